"""Modules with a fault that is put in on purpose: what is checked must tell them apart."""

from pathlib import Path
from types import ModuleType
from typing import Any

from tools.mutation.hook import loaded

__all__ = ["mutant"]


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
    assert module.__file__ is not None
    source = Path(module.__file__).read_text(encoding="utf-8")
    if source.count(text) != 1:
        raise ValueError(
            f"the text to replace must stand once in the source, not {source.count(text)} times "
            f"({module.__name__}: {text!r})"
        )
    return loaded(module, source.replace(text, other))
