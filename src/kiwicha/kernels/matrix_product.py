"""Products of matrices that are both computed: BATCH_MATMUL, and FULLY_CONNECTED of such weights.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/batch_matmul.h in tflite-micro.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, array, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import requantization as numerics

__all__ = ["BATCH_DIMENSIONS", "KERNELS", "MatrixProduct", "matrices", "product_macs"]

BATCH_DIMENSIONS = 3
"""Dimensions in front of those of the matrices."""


@dataclass(frozen=True)
class MatrixProduct(Struct):
    """Products of the rows of an input with those of another one, for each batch.

    The matrix of batch ``(i, j, k)`` is the one with the number ``(i, j, k) @ steps`` of its
    tensor; a step of 0 repeats it. Sums wrap around.
    """

    input: Ref = ref("int8 [matrices, rows, depth]")
    other: Ref = ref("int8 [matrices, columns, depth]")
    bias: Ref = ref("int32 [columns], or none: 0")
    output: Ref = ref("int8 [batches, rows, columns]")
    scratch: Ref = ref("working memory of the instruction-tier kernel")
    batches: tuple[int, ...] = array("u32", BATCH_DIMENSIONS, "their dimensions, 1 or more")
    input_steps: tuple[int, ...] = array("u32", BATCH_DIMENSIONS, "of the input, in matrices")
    other_steps: tuple[int, ...] = array("u32", BATCH_DIMENSIONS, "of the other, in matrices")
    rows: int = u32("of an input's matrix and of the output's")
    columns: int = u32("rows of the other's matrix, columns of the output's")
    depth: int = u32("elements of a row")
    tile_rows: int = u32("instruction tier: rows per pass over the other matrix, multiple of 4")
    input_offset: int = i32("minus the input's zero point, -127 to 128")
    other_offset: int = i32("minus the other's zero point, -127 to 128")
    output_offset: int = i32("the output's zero point")
    multiplier: int = i32("of sums, 0 to 2**31 - 1")
    shift: int = i32("of sums, -31 to 30")
    activation_min: int = i32("smallest output")
    activation_max: int = i32("largest output")


def matrices(p: MatrixProduct, steps: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the number of the matrix that each batch reads."""
    batch = np.indices(p.batches).reshape(BATCH_DIMENSIONS, -1)
    numbers: NDArray[np.int64] = np.array(steps, np.int64) @ batch
    return numbers


def _factor(
    memory: Memory, source: Ref, numbers: NDArray[np.int64], shape: tuple[int, int], offset: int
) -> NDArray[np.float64]:
    count = int(numbers.max()) + 1
    found = memory.load(source, np.int8, (count, *shape)).astype(np.float64) + offset
    return found[numbers]


def _product(memory: Memory, p: MatrixProduct) -> NDArray[np.int8]:
    x = _factor(memory, p.input, matrices(p, p.input_steps), (p.rows, p.depth), p.input_offset)
    y = _factor(memory, p.other, matrices(p, p.other_steps), (p.columns, p.depth), p.other_offset)
    # Sums of integers are exact in double while they are less than 2**53.
    sums = (x @ y.transpose(0, 2, 1)).astype(np.int64)
    if p.bias.bytes:
        sums += memory.load(p.bias, np.int32, (p.columns,))
    return numerics.requantize(
        numerics.wrap_int32(sums),
        p.multiplier,
        p.shift,
        p.output_offset,
        p.activation_min,
        p.activation_max,
    ).astype(np.int8)


def product_macs(p: MatrixProduct) -> int:
    """Return the multiply-accumulates of all batches."""
    return math.prod(p.batches) * p.rows * p.columns * p.depth


def _work(p: MatrixProduct) -> Work:
    return Work(math.prod(p.batches) * p.rows * p.columns, product_macs(p))


KERNELS = (
    Declaration(
        kernel=Kernel.MATRIX_PRODUCT,
        params=MatrixProduct,
        reference=_product,
        is_on_demand=True,
        optional=("bias",),
        cost=Cost(step=500.0, output=75.0, unit=9.0),
        work=_work,
    ),
)
