"""Modules with a fault that is put in on purpose: what is checked must tell them apart."""

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["mutant"]


class _Replacing(SourceFileLoader):
    """Loads a module's source with other text in one place."""

    def __init__(self, module: ModuleType, text: str, other: str) -> None:
        super().__init__(f"{module.__name__}_mutant", str(module.__file__))
        self._text, self._other = text, other

    def get_code(self, fullname: str) -> Any:
        source = Path(self.path).read_text(encoding="utf-8")
        count = source.count(self._text)
        if count != 1:
            raise ValueError(
                f"the text to replace must stand once in the source, not {count} times "
                f"({self.name}: {self._text!r})"
            )
        return self.source_to_code(source.replace(self._text, self._other), self.path)


def mutant(module: ModuleType, text: str, other: str) -> Any:
    """Return a module in whose source one text is replaced by another.

    Parameters
    ----------
    module : module
        Where it comes from; it stays as it is.
    text, other : str
        What stands there once, and what is put there.

    Raises
    ------
    ValueError
        If the text does not stand there once.
    """
    loader = _Replacing(module, text, other)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    made = importlib.util.module_from_spec(spec)
    loader.exec_module(made)
    return made
