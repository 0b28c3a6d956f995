"""SOFTMAX over the last dimension.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/softmax.h in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import TABLE_ENTRIES
from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import requantization as numerics

__all__ = ["KERNELS", "Softmax", "pair_outputs", "softmax_rows"]


@dataclass(frozen=True)
class Softmax(Struct):
    """SOFTMAX over the last dimension: int8 in, out bytes with scale 1/256."""

    input: Ref = ref("int8 [rows, depth]")
    output: Ref = ref("[rows, depth]: int8 with zero point -128, or uint8 with zero point 0")
    exponentials: Ref = ref("int32 [256], Q0.31: exp(-beta * scale * d), 0 where TFLite drops it")
    rows: int = u32("product of the other dimensions")
    depth: int = u32("size of the last dimension")
    output_offset: int = i32("zero point of the output, -128 or 0")
    pairs: Ref = ref("of depth 2: bytes [511], constant, `pair_outputs`; else none")


_PAIR = 2
"""Depth of rows that are looked up."""
_ACCUMULATOR_BITS = 12
"""Integer bits of a sum of exponentials."""
_TABLE_OUTPUTS = 224
"""As many outputs of a long row take as long as its table."""
_LONG_ROW = 64
"""From so many entries on, the largest one is found in words."""


def _reference(memory: Memory, p: Softmax) -> NDArray[np.int8]:
    x = memory.load(p.input, np.int8, (p.rows, p.depth))
    return softmax_rows(x, memory.load(p.exponentials, np.int32, (256,)), p.output_offset)


def softmax_rows(
    x: NDArray[np.int8], table: NDArray[np.int32] | NDArray[np.int64], output_offset: int
) -> NDArray[np.int8]:
    """Return the bytes of each row's probabilities.

    Parameters
    ----------
    x : int8 [rows, depth]
        Rows.
    table : int [256]
        As `Softmax.exponentials`.
    output_offset : int
        Zero point of the output, -128 or 0.
    """
    numbers = x.astype(np.int64)
    exponentials = table.astype(np.int64)[numbers.max(axis=1, keepdims=True) - numbers]
    terms = numerics.rounding_divide_by_pot(exponentials, _ACCUMULATOR_BITS)
    output = np.empty(x.shape, np.int64)
    for row, total in enumerate(terms.sum(axis=1)):
        output[row] = _row(exponentials[row], int(total))
    return (output + output_offset).astype(np.uint8).view(np.int8)


def _row(exponentials: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Return probabilities times 256, 0 to 255."""
    # From a sum of 512 on, outputs are at most half a step, and the shift would pass 31 bits.
    if total >= 512 << (31 - _ACCUMULATOR_BITS):
        return np.zeros(len(exponentials), np.int64)
    scale, bits_over_unit = numerics.softmax_reciprocal(total)
    product = numerics.saturating_rounding_doubling_high_mul(scale, exponentials)
    scaled = numerics.rounding_divide_by_pot(product, bits_over_unit + 31 - 8)
    return np.clip(scaled, 0, 255)


def pair_outputs(exponentials: NDArray[np.int64], output_offset: int) -> NDArray[np.uint8]:
    """Return the first output of rows of two, by the first input less the second, from -255 on.

    Parameters
    ----------
    exponentials : int64 [256]
        As in `Softmax`.
    output_offset : int
        Zero point of the output.
    """
    outputs = np.empty(511, np.int64)
    for difference, exponential in enumerate(exponentials.tolist()):
        pair = np.array([exponentials[0], exponential])
        total = int(numerics.rounding_divide_by_pot(pair, _ACCUMULATOR_BITS).sum())
        outputs[[255 + difference, 255 - difference]] = _row(pair, total)
    return (outputs + output_offset).astype(np.uint8)


def _work(p: Softmax) -> Work:
    if p.pairs.bytes:
        # Both outputs of a row take less than one of a long row.
        return Work(0, 0, p.rows)
    if p.depth > TABLE_ENTRIES:
        # Rows of more entries than int8 has values have a table of outputs.
        return Work(0, 0, p.rows * (p.depth + _TABLE_OUTPUTS))
    outputs = p.rows * (p.depth - max(p.depth - _LONG_ROW, 0) // 12)
    # What the table of exponentials misses in the data cache, in outputs of a long row.
    missed = 8 + max(min(p.rows * p.depth, 40) - 12, 0) * 2 // 5
    return Work(outputs, p.rows, missed)


KERNELS = (
    Declaration(
        kernel=Kernel.SOFTMAX,
        params=Softmax,
        reference=_reference,
        optional=("pairs",),
        tables=("pairs", "exponentials"),
        # Measured for rows of 2 to 4,095 entries.
        cost=Cost(step=450.0, output=33.0, unit=214.0, extra=21.0, cold=430.0),
        work=_work,
    ),
)
