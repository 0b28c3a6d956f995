"""SOFTMAX over the last dimension, of int8, with results of int16.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/softmax.h in tflite-micro.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import requantization as numerics

__all__ = ["KERNELS", "ShortSoftmax", "short_probabilities"]

_ACCUMULATOR_BITS = 12
"""Integer bits of a sum of exponentials."""


@dataclass(frozen=True)
class ShortSoftmax(Struct):
    """SOFTMAX over the last dimension: int8 in, int16 out with scale 1/65,536."""

    input: Ref = ref("int8 [rows, depth]")
    output: Ref = ref("int16 [rows, depth], zero point -32768")
    exponentials: Ref = ref("int32 [256], as of SOFTMAX")
    rows: int = u32("product of the other dimensions")
    depth: int = u32("size of the last dimension")


def _reference(memory: Memory, p: ShortSoftmax) -> NDArray[np.int16]:
    x = memory.load(p.input, np.int8, (p.rows, p.depth))
    return short_probabilities(x, memory.load(p.exponentials, np.int32, (256,)))


def short_probabilities(
    values: NDArray[Any], exponentials_of: NDArray[np.int32] | NDArray[np.int64]
) -> NDArray[np.int16]:
    """Return the probabilities of each row.

    Parameters
    ----------
    values : integers [rows, depth]
        Rows.
    exponentials_of : int [256]
        As `ShortSoftmax.exponentials`.
    """
    x = values.astype(np.int64)
    exponentials = exponentials_of.astype(np.int64)[x.max(axis=1, keepdims=True) - x]
    terms = numerics.rounding_divide_by_pot(exponentials, _ACCUMULATOR_BITS)
    output = np.empty(x.shape, np.int64)
    for row, total in enumerate(terms.sum(axis=1)):
        scale, bits_over_unit = numerics.softmax_reciprocal(int(total))
        product = numerics.saturating_rounding_doubling_high_mul(scale, exponentials[row])
        output[row] = numerics.rounding_divide_by_pot(product, bits_over_unit + 31 - 16)
    return (output - 2**15).clip(-(2**15), 2**15 - 1).astype(np.int16)


def _work(p: ShortSoftmax) -> Work:
    return Work(p.rows * p.depth, p.rows)


KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_SOFTMAX,
        params=ShortSoftmax,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=450.0, output=45.0, unit=230.0),
        work=_work,
    ),
)
