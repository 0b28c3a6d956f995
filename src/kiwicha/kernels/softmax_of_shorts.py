"""SOFTMAX over the last dimension, of int16.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/softmax.h in tflite-micro, SoftmaxInt16.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.short_exponentials import TABLE_POINTS, short_softmax

__all__ = ["KERNELS", "SoftmaxOfShorts"]


@dataclass(frozen=True)
class SoftmaxOfShorts(Struct):
    """SOFTMAX over the last dimension: int16 in and out; tables have a point at each 128th."""

    input: Ref = ref("int16 [rows, depth]")
    output: Ref = ref("int16 [rows, depth], in 1/32,768")
    exponentials: Ref = ref("int16 [513]: numerics.short_exponentials.short_exponentials")
    reciprocals: Ref = ref("int16 [513]: numerics.short_exponentials.short_reciprocals")
    rows: int = u32("product of the other dimensions")
    depth: int = u32("size of the last dimension")
    multiplier: int = i32("of differences, so that 65,535 stand for 10")
    shift: int = i32("of differences")


def _reference(memory: Memory, p: SoftmaxOfShorts) -> NDArray[np.int16]:
    x = memory.load(p.input, np.int16, (p.rows, p.depth))
    tables = (
        memory.load(table, np.int16, (TABLE_POINTS,)) for table in (p.exponentials, p.reciprocals)
    )
    return short_softmax(x, p.multiplier, p.shift, *tables).astype(np.int16)


def _work(p: SoftmaxOfShorts) -> Work:
    return Work(p.rows * p.depth, p.rows)


KERNELS = (
    Declaration(
        kernel=Kernel.SOFTMAX_OF_SHORTS,
        params=SoftmaxOfShorts,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=500.0, output=90.3, unit=141.0),
        work=_work,
    ),
)
