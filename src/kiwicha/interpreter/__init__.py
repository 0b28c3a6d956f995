"""Models from Python, in the shape of the TensorFlow Lite interpreter.

The names are those of ``ai_edge_litert.interpreter``: only the import line of a script changes.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kiwicha.interpreter.interpreter import Interpreter
    from kiwicha.interpreter.resolvers import OpResolverType, load_delegate

__all__ = ["Interpreter", "OpResolverType", "load_delegate"]

_MODULES = {
    "Interpreter": "kiwicha.interpreter.interpreter",
    "OpResolverType": "kiwicha.interpreter.resolvers",
    "load_delegate": "kiwicha.interpreter.resolvers",
}


def __getattr__(name: str) -> Any:
    # Importing the compiler and the simulation takes time: only when it is asked for.
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
