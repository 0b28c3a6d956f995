"""MEAN and SUM over any axes, REDUCE_MAX and REDUCE_MIN.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/reduce.h in tflite-micro.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, array, i32, ref
from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import requantization as numerics

__all__ = ["KERNELS", "Mean", "mean"]

Short = np.signedinteger[Any]
"""Of 8 or 16 bits."""


@dataclass(frozen=True)
class Mean(Struct):
    """MEAN and SUM over any axes: the sum of ``x + input_offset``, times a scale.

    The scale of a MEAN holds 1 / count. REDUCE_MAX and REDUCE_MIN: the largest or smallest byte;
    offsets and scale are unused.
    """

    input: Ref = ref("int8; of SHORT_MEAN int16")
    output: Ref = ref("the same type")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "input shape, leading dimensions 1")
    is_reduced: tuple[int, ...] = array("u8", 8, "1 for each reduced dimension; the last two are 0")
    input_offset: int = i32("minus the input's zero point")
    output_offset: int = i32("the output's zero point")
    multiplier: int = i32("of the sum")
    shift: int = i32("of the sum")


def mean(memory: Memory, p: Mean, dtype: type[Short] = np.int8) -> NDArray[Short]:
    """Return the output of a MEAN or SUM."""
    x = memory.load(p.input, dtype, p.shape).astype(np.int64) + p.input_offset
    sums, limits = numerics.wrap_int32(x.sum(axis=_axes(p))), np.iinfo(dtype)
    scale = (p.multiplier, p.shift, p.output_offset)
    return numerics.requantize(sums, *scale, limits.min, limits.max).astype(dtype)


def _reduce_max(memory: Memory, p: Mean) -> NDArray[np.int8]:
    maxima: NDArray[np.int8] = memory.load(p.input, np.int8, p.shape).max(axis=_axes(p))
    return maxima


def _reduce_min(memory: Memory, p: Mean) -> NDArray[np.int8]:
    minima: NDArray[np.int8] = memory.load(p.input, np.int8, p.shape).min(axis=_axes(p))
    return minima


def _axes(p: Mean) -> tuple[int, ...]:
    return tuple(axis for axis in range(MAX_RANK) if p.is_reduced[axis])


def _work(p: Mean) -> Work:
    return Work(p.output.bytes, p.input.bytes)


KERNELS = (
    Declaration(
        kernel=Kernel.MEAN,
        params=Mean,
        reference=mean,
        cost=Cost(step=1980.0, output=71.3, unit=16.2, extra=0.0),
        work=_work,
    ),
    Declaration(
        kernel=Kernel.REDUCE_MAX,
        params=Mean,
        check="mean",
        reference=_reduce_max,
        cost=Cost(step=2170.0, output=44.8, unit=21.1, extra=0.0),
        work=_work,
    ),
    Declaration(
        kernel=Kernel.REDUCE_MIN,
        params=Mean,
        check="mean",
        reference=_reduce_min,
        cost=Cost(step=1730.0, output=48.4, unit=22.6, extra=0.0),
        work=_work,
    ),
)
