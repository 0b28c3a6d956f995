"""What LiteRT chooses kernels by, and what loads delegates there."""

import enum
from collections.abc import Mapping
from typing import Any, NoReturn

from kiwicha.errors import UsageError

__all__ = ["OpResolverType", "load_delegate"]


@enum.unique
class OpResolverType(enum.Enum):
    """Sets of kernels of LiteRT; here all of them compute what ``BUILTIN_REF`` does there."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


def load_delegate(library: str, options: Mapping[str, Any] | None = None) -> NoReturn:
    """Refuse to load a delegate: what computes is chosen by configuration and target.

    Parameters
    ----------
    library : str
        Name of a delegate's shared library.
    options : mapping, optional
        The delegate's options.

    Raises
    ------
    UsageError
        Always, and with what to do instead.
    """
    raise UsageError(
        f"delegates must not be loaded, but {library!r} is asked for: leave it out. The CPU is "
        "Interpreter(model); the accelerator is Interpreter(model, config='64', target='sim') in "
        "simulation and `kiwicha run --target board` on hardware"
    )
