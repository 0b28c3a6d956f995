"""Products of computed matrices with custom instructions: the other one is packed like weights."""

import dataclasses
import math

from kiwicha.contract.cfu import LANES
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Call, Cost, Declaration, Work
from kiwicha.kernels.matrix_product import MatrixProduct, matrices
from kiwicha.kernels.simd_matrix import cached_pixels
from kiwicha.kernels.weight_order import WORD_BYTES, padded_channels

__all__ = ["KERNELS"]

_TABLES = 3
"""Bias, multiplier and shift of each column."""


def _row_bytes(p: MatrixProduct) -> int:
    """Return the bytes of a row, rounded up to words."""
    return -(-p.depth // WORD_BYTES) * WORD_BYTES


def _prepare(call: Call) -> Call:
    p: MatrixProduct = call.params
    columns, row = padded_channels(p.columns), _row_bytes(p)
    tables = _TABLES * WORD_BYTES * columns
    copied = 0 if row == p.depth else p.rows * row
    return dataclasses.replace(
        call,
        params=dataclasses.replace(
            p, tile_rows=cached_pixels(p.rows, row, has_offset=p.other_offset != 0)
        ),
        scratch_bytes=tables + columns * row + copied,
    )


def _work(p: MatrixProduct) -> Work:
    batches, row = math.prod(p.batches), _row_bytes(p)
    columns = padded_channels(p.columns)
    fours, singles = divmod(p.rows, LANES)
    # Groups of outputs, products of rows in fours, and bytes that are packed or copied. Those of a
    # row that is computed alone count like as many.
    changes = int((matrices(p, p.other_steps)[1:] != matrices(p, p.other_steps)[:-1]).sum()) + 1
    moved = changes * columns * row + (0 if row == p.depth else batches * p.rows * row)
    macs = columns * row
    return Work(
        batches * (fours + singles) * columns,
        batches * fours * LANES * macs,
        moved + batches * singles * macs,
    )


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_MATRIX_PRODUCT,
        params=MatrixProduct,
        is_on_demand=True,
        optional=("bias",),
        cost=Cost(step=900.0, output=70.0, unit=1.8, extra=3.0),
        work=_work,
        replaces=(Kernel.MATRIX_PRODUCT,),
        prepare=_prepare,
    ),
)
