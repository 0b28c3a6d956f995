"""Pools on the engine: which jobs compute which outputs, and what those must be."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler.engine.ir.operations import DividedOperation
from kiwicha.compiler.engine.select.reductions.max_pools import max_pool_forms
from kiwicha.compiler.engine.select.reductions.pools import MAX_PIECES, average_pool
from kiwicha.contract.engine import JobKind
from kiwicha.contract.layout import Ref
from kiwicha.kernels.pool import Pool

SEEDS = range(40)


def pool(seed: int, **changes: int) -> Pool:
    """Give a pool with SAME padding."""
    rng = np.random.default_rng(seed)
    size, kernel, stride = (rng.integers(1, limit, 2).tolist() for limit in (12, 6, 4))
    output = [-(-size[k] // stride[k]) for k in range(2)]
    pads = [max((output[k] - 1) * stride[k] + kernel[k] - size[k], 0) // 2 for k in range(2)]
    fields: dict[str, Any] = {
        **dict(zip(("input_height", "input_width"), size, strict=True)),
        **dict(zip(("output_height", "output_width"), output, strict=True)),
        **dict(zip(("kernel_height", "kernel_width"), kernel, strict=True)),
        **dict(zip(("stride_height", "stride_width"), stride, strict=True)),
        **dict(zip(("pad_top", "pad_left"), pads, strict=True)),
        **{"batches": 1, "channels": 8, "offset": 0},
        **{"activation_min": -128, "activation_max": 127, "input": Ref(), "output": Ref()},
    }
    return Pool(**(fields | changes))


@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_divide_by_the_elements_inside(seed: int) -> None:
    p = pool(seed)
    # A window of nothing but 1 has as many as its sum.
    ones = np.ones((p.input_height, p.input_width), np.int64)
    counts = np.empty((p.output_height, p.output_width), np.int64)
    for y, x in np.ndindex(*counts.shape):
        top, left = y * p.stride_height - p.pad_top, x * p.stride_width - p.pad_left
        rows = slice(max(top, 0), top + p.kernel_height)
        counts[y, x] = ones[rows, max(left, 0) : left + p.kernel_width].sum()
    operation = average_pool(p, 0, 0, 1)
    found = np.zeros(counts.shape)
    # In stripes of any height.
    height = int(np.random.default_rng(seed).integers(1, p.output_height + 1))
    for first in range(0, p.output_height, height):
        for piece in operation.within(first, min(height, p.output_height - first)):
            columns = slice(None) if piece.columns is None else piece.columns.start
            scale = piece.operation.parameters
            divisor = 2.0 ** (31 - scale.shift[0]) / scale.multiplier[0]
            found[piece.rows.start : piece.rows.stop, columns] = divisor
    np.testing.assert_array_equal(np.rint(found), counts)


def test_a_3x3_window_needs_nine_jobs() -> None:
    size = {"input_height": 9, "input_width": 7, "output_height": 9, "output_width": 7}
    window = {"kernel_height": 3, "kernel_width": 3, "stride_height": 1, "stride_width": 1}
    operation = average_pool(pool(0, **size, **window, pad_top=1, pad_left=1), 0, 0, 1)
    assert isinstance(operation, DividedOperation)
    assert len(operation.pieces) == 9
    # Top and bottom divide alike, and so do left and right: 4, 6 and 9.
    assert len({piece.operation for piece in operation.pieces}) == 3
    assert len(operation.pieces) <= MAX_PIECES


def test_maxima_keep_bytes() -> None:
    for candidate in max_pool_forms(pool(2, activation_min=-7), 0, 0, 1).candidates:
        assert candidate.operation.kind is JobKind.MAX
        assert candidate.operation.clamp == (-7, 127)
