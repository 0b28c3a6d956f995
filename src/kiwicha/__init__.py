"""Kiwicha: an open int8 neural-network accelerator and everything that makes a model run on it."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kiwicha.interpreter.interpreter import Interpreter

__all__ = ["Interpreter"]


def __getattr__(name: str) -> Any:
    # Importing the compiler and the simulation takes time: only when it is asked for.
    if name == "Interpreter":
        return importlib.import_module("kiwicha.interpreter.interpreter").Interpreter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
