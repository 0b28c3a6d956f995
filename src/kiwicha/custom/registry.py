"""Operators that others add: what a model's ``CUSTOM`` operator means, from outside this package.

A `CustomOperator` brings a rule, a reference in Python and a kernel in C; with them the operator
takes part in compiling, in the reference executor, in the firmware and in its simulation. It is
found through the entry point group `ENTRY_POINT_GROUP`, or handed to `register`.
"""

import functools
import re
import traceback
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.errors import UsageError

__all__ = [
    "ENTRY_POINT_GROUP",
    "MODEL_PREFIX",
    "CustomNode",
    "CustomOperator",
    "CustomTensor",
    "find",
    "find_by_hash",
    "operators",
    "register",
]

ENTRY_POINT_GROUP = "kiwicha.operators"
MODEL_PREFIX = "CUSTOM:"
"""What the compiler puts before a custom operator's name."""


@dataclass(frozen=True, eq=False)
class CustomTensor:
    """One operand.

    Parameters
    ----------
    shape : tuple of int
        Row-major.
    dtype : numpy dtype
        int8, uint8 or int32.
    scale : float
        ``real = scale * (value - zero_point)``; 0 if not quantized.
    zero_point : int
        See ``scale``.
    value : ndarray or None
        Of a constant.
    """

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    scale: float
    zero_point: int
    value: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class CustomNode:
    """One use of a custom operator in a model.

    Parameters
    ----------
    inputs : tuple of CustomTensor
        In the model's order.
    output : CustomTensor
        The one output.
    options : bytes
        The model's custom options, a FlexBuffer if a TensorFlow converter wrote them.
    """

    inputs: tuple[CustomTensor, ...]
    output: CustomTensor
    options: bytes


@dataclass(frozen=True, eq=False)
class CustomOperator:
    """What a custom operator is.

    Parameters
    ----------
    name : str
        Its custom code in the model.
    check : callable
        Shape and type rule: takes a `CustomNode`, gives what is wrong with it, a sentence each
        such as ``input must have 4 dimensions, not [1, 8]``; nothing if it is supported. Number of
        inputs is 1 to `program.MAX_CUSTOM_INPUTS` before it is asked.
    parameters : callable
        Takes a supported `CustomNode`, gives the bytes that reference and kernel get.
    reference : callable
        Takes the inputs, flat int8 arrays of their bytes (``.view(np.uint8)`` for uint8, and so
        on), and the parameters; gives an array of the output's values, int32 or, in any shape, its
        bytes as int8 or uint8. The C kernel must give the same, bit for bit.
    source : Path
        The C11 file with the kernel. It may include ``custom.h`` of the firmware.
    function : str
        Name of the kernel, of type ``kiwicha_custom_function``.
    """

    name: str
    check: Callable[[CustomNode], Iterable[str]]
    parameters: Callable[[CustomNode], bytes]
    reference: Callable[[Sequence[NDArray[Any]], bytes], NDArray[Any]]
    source: Path
    function: str

    def __post_init__(self) -> None:
        if not self.name:
            raise UsageError("name of a custom operator must not be empty")
        if not re.fullmatch(r"[A-Za-z_]\w*", self.function, re.ASCII):
            raise UsageError(
                f"function of custom operator {self.name!r} must be a C identifier, "
                f"not {self.function!r}"
            )
        if not Path(self.source).is_file():
            raise UsageError(
                f"source of custom operator {self.name!r} must be a file, not {self.source}"
            )

    @property
    def hash(self) -> int:
        """What a Program and the firmware know the operator by, 32 bits."""
        return zlib.crc32(self.name.encode())


_registered: dict[str, CustomOperator] = {}


def register(operator: CustomOperator) -> None:
    """Make an operator known to this process.

    Raises
    ------
    UsageError
        If there is another one of that name, or of the same hash, or another source has its
        function.
    """
    for other in operators():
        if other is operator:
            continue
        if operator.hash == other.hash:
            raise UsageError(
                f"name of a custom operator must be its own, not {operator.name!r}, "
                f"which is that of {other.source}"
            )
        if _collide(operator, other):
            raise UsageError(
                f"function of custom operator {operator.name!r} must be its own, not "
                f"{operator.function!r}, which is that of {other.source}"
            )
    _registered[operator.name] = operator


def operators() -> tuple[CustomOperator, ...]:
    """Return all custom operators, by name.

    Raises
    ------
    UsageError
        If an installed package names something else, or two the same operator.
    """
    known = dict(_installed())
    for operator in _registered.values():
        known[operator.name] = operator
    return tuple(known[name] for name in sorted(known))


def find(name: str) -> CustomOperator | None:
    """Return an operator by its name in a model, with `MODEL_PREFIX`; None if there is none."""
    if not name.startswith(MODEL_PREFIX):
        return None
    wanted = name.removeprefix(MODEL_PREFIX)
    return next((operator for operator in operators() if operator.name == wanted), None)


def find_by_hash(value: int) -> CustomOperator | None:
    """Return an operator by `CustomOperator.hash`; None if there is none."""
    return next((operator for operator in operators() if operator.hash == value), None)


def _collide(one: CustomOperator, other: CustomOperator) -> bool:
    """Whether two C files define the same function."""
    return one.function == other.function and not Path(one.source).samefile(other.source)


@functools.cache
def _installed() -> dict[str, CustomOperator]:
    found: dict[str, CustomOperator] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        where = f"entry point {point.name!r} of group {ENTRY_POINT_GROUP}"
        try:
            operator = point.load()
        except Exception as error:
            text = "".join(traceback.format_exception_only(error)).strip()
            raise UsageError(f"{where} must be importable: {text}; mend its package") from error
        if not isinstance(operator, CustomOperator):
            raise UsageError(f"{where} must be a CustomOperator, not {type(operator).__name__}")
        if any(operator.hash == other.hash for other in found.values()):
            raise UsageError(f"{where} must have a name of its own, not {operator.name!r}")
        if any(_collide(operator, other) for other in found.values()):
            raise UsageError(f"{where} must have a function of its own, not {operator.function!r}")
        found[operator.name] = operator
    return found
