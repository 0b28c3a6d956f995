"""L2_NORMALIZATION over the last dimension.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/l2normalization.h in tflite-micro; for
uint8 tensorflow/lite/kernels/internal/reference/l2normalization.h.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import requantization as numerics
from kiwicha.numerics.inverse_square_root import inverse_square_root

__all__ = ["KERNELS", "L2Normalization"]

_SCALE_BITS = 7
"""The output's scale is 1/128."""


@dataclass(frozen=True)
class L2Normalization(Struct):
    """L2_NORMALIZATION: rows divided by the root of their sum of squares, in 1/128."""

    input: Ref = ref("int8 [rows, depth]")
    output: Ref = ref("int8 [rows, depth], zero point 0")
    rows: int = u32("product of the other dimensions")
    depth: int = u32("size of the last dimension, at most 32767")
    input_offset: int = i32("minus the zero point of the input")
    early_bits: int = u32("7: numbers are times 128 before they are scaled; 0: by their scale")


def _reference(memory: Memory, p: L2Normalization) -> NDArray[np.int8]:
    x = memory.load(p.input, np.int8, (p.rows, p.depth)).astype(np.int64) + p.input_offset
    output = np.empty(x.shape, np.int64)
    for row, numbers in enumerate(x):
        multiplier, shift = inverse_square_root(int((numbers * numbers).sum()))
        output[row] = numerics.multiply_by_quantized_multiplier(
            numbers << p.early_bits, multiplier, shift + _SCALE_BITS - p.early_bits
        )
    return output.clip(-128, 127).astype(np.int8)


def _work(p: L2Normalization) -> Work:
    return Work(p.rows * p.depth, p.rows)


KERNELS = (
    Declaration(
        kernel=Kernel.L2_NORMALIZATION,
        params=L2Normalization,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=310.0, output=19.3, unit=313.0),
        work=_work,
    ),
)
