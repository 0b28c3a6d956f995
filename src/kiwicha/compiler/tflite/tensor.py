"""Tensors of a TFLite model: their types, quantization and constants."""

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Quantization", "Tensor", "TensorType", "quantization"]


class TensorType(enum.IntEnum):
    """Element types of the TFLite schema."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    UINT8 = 3
    INT64 = 4
    STRING = 5
    BOOL = 6
    INT16 = 7
    COMPLEX64 = 8
    INT8 = 9
    FLOAT64 = 10
    COMPLEX128 = 11
    UINT64 = 12
    RESOURCE = 13
    VARIANT = 14
    UINT32 = 15
    UINT16 = 16
    INT4 = 17
    BFLOAT16 = 18

    @property
    def text(self) -> str:
        """Name in messages."""
        return self.name.lower()

    @property
    def bits(self) -> int | None:
        """Bits per element; None if elements have no fixed size."""
        return _BITS.get(self)


_BITS = {
    TensorType.FLOAT32: 32,
    TensorType.FLOAT16: 16,
    TensorType.INT32: 32,
    TensorType.UINT8: 8,
    TensorType.INT64: 64,
    TensorType.BOOL: 8,
    TensorType.INT16: 16,
    TensorType.COMPLEX64: 64,
    TensorType.INT8: 8,
    TensorType.FLOAT64: 64,
    TensorType.COMPLEX128: 128,
    TensorType.UINT64: 64,
    TensorType.UINT32: 32,
    TensorType.UINT16: 16,
    TensorType.INT4: 4,
    TensorType.BFLOAT16: 16,
}


_INTEGERS = {
    TensorType.INT8: "<i1",
    TensorType.INT16: "<i2",
    TensorType.INT32: "<i4",
    TensorType.INT64: "<i8",
}


@dataclass(frozen=True, eq=False)
class Quantization:
    """``real = scale * (value - zero_point)``.

    Parameters
    ----------
    scales : float32 [n]
        One for the tensor or one per slice of ``dimension``.
    zero_points : int64 [m]
        As many as scales in a well-formed model.
    dimension : int
        The sliced dimension.
    is_single : bool
        The values are uint8 in the model: some products of scales are rounded to float32.
    """

    scales: NDArray[np.float32]
    zero_points: NDArray[np.int64]
    dimension: int
    is_single: bool = False

    @property
    def scale(self) -> float:
        """The first scale, exactly."""
        return float(self.scales[0])

    @property
    def factor(self) -> np.floating[Any]:
        """The first scale, for products and quotients that are of float32 where it is single."""
        return self.scales[0] if self.is_single else np.float64(self.scales[0])

    @property
    def zero_point(self) -> int:
        """The first zero point."""
        return int(self.zero_points[0])


@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor of the model.

    Parameters
    ----------
    index : int
        Position in the model.
    name : str
        As in the model; invalid UTF-8 and what cannot be printed are replaced.
    type : TensorType
        Element type.
    shape : tuple of int
        Row-major; () is a scalar.
    shape_signature : tuple of int
        The shape with -1 for unknown dimensions; () if the model does not say.
    quantization : Quantization or None
        None if scales or zero points are missing.
    data : uint8 [bytes] or None
        Bytes of a constant, None for what is computed.
    is_variable : bool
        The tensor keeps its value from one inference to the next.
    is_sparse : bool
        ``data`` holds only the elements that are not zero.
    is_shifted : bool
        Values are uint8 in the model; here they and the zero points are int8, less by 128.
    """

    index: int
    name: str
    type: TensorType
    shape: tuple[int, ...]
    shape_signature: tuple[int, ...]
    quantization: Quantization | None
    data: NDArray[np.uint8] | None
    is_variable: bool
    is_sparse: bool
    is_shifted: bool = False

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the elements; their type must have a fixed size."""
        assert self.type.bits is not None
        return -(-self.elements * self.type.bits // 8)

    @property
    def is_constant(self) -> bool:
        """Whether the model holds the values."""
        return self.data is not None

    @property
    def shift(self) -> int:
        """What the values are less than in the model."""
        return 128 if self.is_shifted else 0

    def int8s(self) -> NDArray[np.int8]:
        """Return the values of a constant of type int8."""
        assert self.data is not None
        return self.data.view(np.int8).reshape(self.shape)

    def int32s(self) -> NDArray[np.int32]:
        """Return the values of a constant of type int32."""
        assert self.data is not None
        return self.data.view("<i4").reshape(self.shape)

    def integers(self) -> list[int]:
        """Return the values of a constant of a signed integer type, in order."""
        assert self.data is not None
        return [int(value) for value in self.data.view(_INTEGERS[self.type])]


def quantization(tensor: Tensor) -> Quantization:
    """Return the quantization of a tensor that must have one."""
    assert tensor.quantization is not None
    return tensor.quantization
