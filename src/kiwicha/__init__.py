"""Kiwicha: an open int8 neural-network accelerator and everything that makes a model run on it."""

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kiwicha.interpreter.interpreter import Interpreter
    from kiwicha.interpreter.resolvers import OpResolverType, load_delegate

    __version__: str

__all__ = ["Interpreter", "OpResolverType", "__version__", "load_delegate"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.metadata.version("kiwicha")
    # Importing the compiler and the simulation takes time: only when it is asked for.
    if name in __all__:
        return getattr(importlib.import_module("kiwicha.interpreter"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
