"""Integers and booleans as TFLite computes with them: sums and conversions wrap around.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/{add,sub,mul,div,floor_div,floor_mod}.h,
maximum_minimum.h and comparisons.h; tensorflow/lite/micro/kernels/cast.cc in tflite-micro.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kiwicha.contract.integers import IntegerOperation

__all__ = ["OPERATIONS", "cast", "selected"]

Array = NDArray[Any]


def _quotient(a: Array, b: Array) -> Array:
    quotient: Array = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
    return quotient


OPERATIONS: dict[IntegerOperation, Callable[[Array, Array], Array]] = {
    IntegerOperation.ADD: np.add,
    IntegerOperation.SUB: np.subtract,
    IntegerOperation.MUL: np.multiply,
    IntegerOperation.DIV: _quotient,
    IntegerOperation.FLOOR_DIV: np.floor_divide,
    IntegerOperation.FLOOR_MOD: np.mod,
    IntegerOperation.MINIMUM: np.minimum,
    IntegerOperation.MAXIMUM: np.maximum,
    IntegerOperation.EQUAL: np.equal,
    IntegerOperation.NOT_EQUAL: np.not_equal,
    IntegerOperation.LESS: np.less,
    IntegerOperation.LESS_EQUAL: np.less_equal,
}
"""What each operation makes of two arrays of int64, before the result is narrowed."""


def selected(condition: Array, a: Array, b: Array) -> Array:
    """Return elements of ``a`` where a condition holds, else of ``b``; all are broadcast."""
    return np.where(condition, a, b)


def cast(values: Array, dtype: DTypeLike) -> Array:
    """Return numbers as another type.

    Integers lose their upper bits. What float32 has behind the point is dropped, numbers that do
    not fit become the smallest or largest one, and what is no number becomes 0.
    """
    wanted = np.dtype(dtype)
    if wanted == np.bool_:
        return np.not_equal(values, 0)
    if values.dtype != np.float32 or wanted == np.float32:
        return values.astype(wanted)
    limits = np.iinfo(wanted)
    # As float64 the upper limit of int64 is one too large, as no number below it is.
    numbers = np.nan_to_num(np.trunc(values.astype(np.float64)), posinf=np.inf, neginf=-np.inf)
    is_high, is_low = numbers >= float(limits.max), numbers <= float(limits.min)
    inside = np.where(is_high | is_low, 0, numbers).astype(wanted)
    return np.where(is_high, limits.max, np.where(is_low, limits.min, inside)).astype(wanted)
