"""Puts a mutant in the place of its module."""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

__all__ = ["install", "loaded"]


class _MutantLoader(SourceFileLoader):
    """Loads a module from another source."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """Return the mutant's code."""
        code: CodeType = self.source_to_code(self._source, self.path)
        return code


class _MutantFinder(MetaPathFinder):
    """Finds one module, elsewhere than where it is."""

    def __init__(self, name: str, source: str) -> None:
        self._name, self._source = name, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the mutant, if it is asked for."""
        if fullname != self._name:
            return None
        spec = PathFinder.find_spec(fullname, path)
        assert spec is not None
        assert spec.origin is not None
        loader = _MutantLoader(fullname, spec.origin, self._source)
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=loader)


def loaded(module: ModuleType, source: str) -> Any:
    """Return a module of another source, which nobody else imports.

    Parameters
    ----------
    module : module
        Whose place it has.
    source : str
        Python.
    """
    assert module.__file__ is not None
    loader = _MutantLoader(module.__name__, module.__file__, source)
    spec = importlib.util.spec_from_loader(module.__name__, loader)
    assert spec is not None
    made = importlib.util.module_from_spec(spec)
    loader.exec_module(made)
    return made


def install(name: str, source: str) -> None:
    """Let a module be imported from another source, in this process.

    Parameters
    ----------
    name : str
        Of the module, which is not imported yet.
    source : str
        Python.
    """
    sys.meta_path.insert(0, _MutantFinder(name, source))
