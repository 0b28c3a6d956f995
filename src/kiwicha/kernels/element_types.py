"""Elements of any type: what numpy calls them, and how kernels read them through strides."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType
from kiwicha.kernels.kernel import Memory

__all__ = ["NUMPY_TYPES", "broadcast", "numpy_type"]

NUMPY_TYPES: dict[DType, type[np.generic]] = {
    DType.INT8: np.int8,
    DType.UINT8: np.uint8,
    DType.INT32: np.int32,
    DType.FLOAT32: np.float32,
    DType.INT64: np.int64,
    DType.INT16: np.int16,
    DType.BOOL: np.bool_,
    DType.UINT32: np.uint32,
}
"""numpy's name of each element type."""


def numpy_type(number: int) -> np.dtype[Any]:
    """Return numpy's type for the number of a `DType`."""
    return np.dtype(NUMPY_TYPES[DType(number)])


def broadcast(
    memory: Memory,
    ref: Ref,
    dtype: np.dtype[Any],
    shape: Sequence[int],
    strides: Sequence[int],
) -> NDArray[Any]:
    """Return a tensor as strides, in elements, repeat it to a shape."""
    index = np.zeros((1,) * len(shape), np.int64)
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        line = np.arange(size, dtype=np.int64) * stride
        index = index + line.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    values: NDArray[Any] = memory.load(ref, dtype, (int(index.max()) + 1,))[index]
    return values
