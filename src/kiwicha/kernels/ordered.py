"""Operators along one dimension whose order counts: TOPK_V2 and CUMSUM.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/cumsum.h in tflite-micro;
tensorflow/lite/kernels/topk_v2.cc.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.element_types import numpy_type
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import requantization as numerics

__all__ = ["HEADROOM_BITS", "KERNELS", "CumulativeSum", "TopPositions"]

HEADROOM_BITS = 19
"""By which bytes are shifted before they are added up."""


@dataclass(frozen=True)
class TopPositions(Struct):
    """Positions of the largest elements of each row, the largest first; of equal ones the first."""

    input: Ref = ref("int8, int16, int32 or int64 [rows, depth]")
    output: Ref = ref("int32 [rows, count]")
    rows: int = u32("product of the other dimensions")
    depth: int = u32("size of the last dimension")
    count: int = u32("how many are wanted, at most depth")
    dtype: int = u32("DType of the input")


@dataclass(frozen=True)
class CumulativeSum(Struct):
    """CUMSUM: each element with all before it, or those alone, added up along one dimension.

    Sums wrap around. Those of bytes are of ``(x + input_offset) << 19``, begin with
    ``input_offset << 19``, and are scaled.
    """

    input: Ref = ref("int8, int32 or int64 [outer, depth, inner]")
    output: Ref = ref("the same type [outer, depth, inner]")
    outer: int = u32("product of the dimensions in front")
    depth: int = u32("size of the dimension")
    inner: int = u32("product of the dimensions behind")
    dtype: int = u32("DType of input and output")
    is_exclusive: int = u32("1: an element is not part of its own sum")
    is_reverse: int = u32("1: from the last element on")
    input_offset: int = i32("of bytes: minus the zero point of the input")
    output_offset: int = i32("of bytes: zero point of the output")
    multiplier: int = i32("of bytes: of the sum")
    shift: int = i32("of bytes: of the sum")


def _top_positions(memory: Memory, p: TopPositions) -> NDArray[np.int32]:
    values = memory.load(p.input, numpy_type(p.dtype), (p.rows, p.depth))
    # Minus the smallest number is that number: its complement is not.
    order = np.argsort(~values, axis=1, kind="stable")
    return order[:, : p.count].astype(np.int32)


def _cumulative_sum(memory: Memory, p: CumulativeSum) -> NDArray[Any]:
    dtype = numpy_type(p.dtype)
    values = memory.load(p.input, dtype, (p.outer, p.depth, p.inner)).astype(np.int64)
    is_scaled = p.dtype == DType.INT8
    if is_scaled:
        values = (values + p.input_offset) << HEADROOM_BITS
    if p.is_reverse:
        values = values[:, ::-1]
    sums = np.cumsum(values, axis=1)
    if p.is_exclusive:
        sums -= values
    if p.is_reverse:
        sums = sums[:, ::-1]
    if not is_scaled:
        return sums.astype(dtype)
    sums = numerics.wrap_int32(sums + (p.input_offset << HEADROOM_BITS))
    scale = p.multiplier, p.shift, p.output_offset
    return numerics.requantize(sums, *scale, -128, 127).astype(np.int8)


def _top_work(p: TopPositions) -> Work:
    return Work(p.rows * p.depth, p.rows * p.count)


def _sum_work(p: CumulativeSum) -> Work:
    count = p.outer * p.depth * p.inner
    return Work(count, count if p.dtype == DType.INT8 else 0)


KERNELS = (
    Declaration(
        kernel=Kernel.TOP_POSITIONS,
        params=TopPositions,
        reference=_top_positions,
        is_on_demand=True,
        cost=Cost(step=152.0, output=30.9, unit=73.3),
        work=_top_work,
    ),
    Declaration(
        kernel=Kernel.CUMULATIVE_SUM,
        params=CumulativeSum,
        reference=_cumulative_sum,
        is_on_demand=True,
        cost=Cost(step=636.0, output=46.5, unit=68.8),
        work=_sum_work,
    ),
)
