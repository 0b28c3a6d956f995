"""What a name of an ONNX model stands for while the graph is built."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BYTES",
    "Activation",
    "Codes",
    "Constant",
    "Pending",
    "Quantized",
    "Reals",
    "Refusal",
    "Scale",
    "Unquantized",
    "Value",
]

Reals = NDArray[np.float32]
BYTES: NDArray[np.int64] = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int64)
"""The int8 that each unsigned byte stands for: the order of tables."""


class Refusal(Exception):
    """What an operator must be, and what it is.

    Attributes
    ----------
    value : str
        Name of the value that is meant, where that is not what is read just then.
    """

    value = ""


class Unquantized(Refusal):
    """An operand is float32."""


@dataclass(frozen=True)
class Scale:
    """Scale and zero point of bytes; those of uint8 are less by 128, as all inside is int8.

    Parameters
    ----------
    scale : float
        A float32.
    zero_point : int
        Of the int8.
    is_unsigned : bool
        uint8 in the file.
    """

    scale: float
    zero_point: int
    is_unsigned: bool = False

    @property
    def reals(self) -> Reals:
        """The number that each byte stands for."""
        return (BYTES - self.zero_point).astype(np.float32) * np.float32(self.scale)

    def codes(self, reals: NDArray[Any]) -> NDArray[np.int64]:
        """Return the int8 of numbers, as QuantizeLinear does: halves to even."""
        with np.errstate(all="ignore"):
            steps = np.rint(np.asarray(reals, np.float32) / np.float32(self.scale))
        steps = np.nan_to_num(steps.astype(np.float64), nan=0.0, posinf=1e9, neginf=-1e9)
        moved: NDArray[np.int64] = (steps + self.zero_point).clip(-128, 127).astype(np.int64)
        return moved

    def is_same(self, other: "Scale") -> bool:
        """Return whether the bytes stand for the same numbers."""
        return (self.scale, self.zero_point) == (other.scale, other.zero_point)


@dataclass(frozen=True, eq=False)
class Codes:
    """A constant as the integers that the file holds.

    Parameters
    ----------
    values : int64 array
        Of uint8 less by 128.
    scales : float32 [n]
        One, or one for each slice of ``axis``.
    zero_points : int64 [n]
        As many.
    axis : int
        The sliced dimension.
    bits : int
        8 or 32.
    """

    values: NDArray[np.int64]
    scales: NDArray[np.float32]
    zero_points: NDArray[np.int64]
    axis: int
    bits: int


@dataclass(frozen=True, eq=False)
class Constant:
    """Numbers that are known.

    Parameters
    ----------
    values : array
        They.
    codes : Codes or None
        If they come from a DequantizeLinear.
    """

    values: NDArray[Any]
    codes: Codes | None = None


@dataclass(frozen=True, eq=False)
class Activation:
    """A tensor of bytes, and the numbers that these stand for.

    Parameters
    ----------
    tensor : int
        Index in the graph.
    shape : tuple of int
        In ONNX's order of dimensions.
    order : tuple of int
        Dimension of ``shape`` that each dimension of the tensor is.
    reals : float32 [256]
        Number of each byte, by its unsigned value.
    features : int64 array or None
        Position in the tensor's last dimension of each element of the shape's last dimension;
        None if they are in order. Then ``order`` is that of the shape.
    source : tuple or None
        Shape and order that the tensor had before its features became one dimension.
    """

    tensor: int
    shape: tuple[int, ...]
    order: tuple[int, ...]
    reals: Reals
    features: NDArray[np.int64] | None = None
    source: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def stored(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return tuple(self.shape[axis] for axis in self.order)

    def place(self, axis: int) -> int:
        """Return the tensor's dimension that is one of the shape's."""
        return self.order.index(axis % len(self.shape))


@dataclass(frozen=True, eq=False)
class Quantized:
    """What a QuantizeLinear gives: bytes as integers.

    Parameters
    ----------
    inside : Activation
        They, as numbers of ``scale``.
    scale : Scale
        Of the QuantizeLinear.
    """

    inside: Activation
    scale: Scale


@dataclass(eq=False)
class Pending:
    """What is computed in one step with the QuantizeLinear behind it, whose scale it needs.

    Parameters
    ----------
    name : str
        Of the value.
    shape : tuple of int
        In ONNX's order.
    emit : callable
        From the scale to the tensor.
    """

    name: str
    shape: tuple[int, ...]
    emit: Callable[[Scale], Activation]
    _done: dict[tuple[float, int], Activation] = field(default_factory=dict)

    def at(self, scale: Scale) -> Activation:
        """Return the tensor of a scale."""
        key = (scale.scale, scale.zero_point)
        if key not in self._done:
            try:
                self._done[key] = self.emit(scale)
            except Refusal as refusal:
                refusal.value = refusal.value or self.name
                raise
        return self._done[key]


Value = Constant | Activation | Quantized | Pending
