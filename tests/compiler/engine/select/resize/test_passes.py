"""Images of any size in two passes: bytes of exact sums, and what the engine refuses."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.element_operations import RowAddition
from kiwicha.compiler.engine.ir.operations import DividedOperation, Operation
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.window_operations import DepthwiseConvolution
from kiwicha.compiler.engine.select.resize.fractions import dimensions
from kiwicha.compiler.engine.select.resize.passes import in_two_passes
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.engine import SumFlag
from kiwicha.contract.program import Kernel
from kiwicha.numerics.requantization import requantize
from tests.support.models.resized import Resized


def layer(item: Resized, dtype: Any) -> Layer:
    """Return the layer of a model."""
    network = compile_stages(item.case(dtype).model, "simd").network
    (found,) = (call for call in network.layers if call.kernel is Kernel.RESIZE_BILINEAR)
    return found


def steps(item: Resized, dtype: Any = np.int8) -> tuple[Operation, ...]:
    """Return the operations of a model."""
    return in_two_passes(layer(item, dtype), 0).steps


def between(item: Resized, x: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """Return the bytes [planes, rows, bytes of a row] for pixels [rows, sides, bytes of a row]."""
    found = []
    for part in steps(item, dtype)[1].job_operations:
        assert isinstance(part, DepthwiseConvolution)
        sums = (x * part.weights[0]).sum(axis=1)
        p = part.parameters
        found.append(requantize(sums + p.bias, p.multiplier, p.shift, 0, *part.clamp))
    return np.array(found)


PLANES = [
    # Weights are in 1/1024; in 1/512; in 1/4; 0 or 1; in 1/3.
    (Resized(3, 7, 8, 1, Fraction(13, 7), "centers"), np.int8, 4),
    (Resized(3, 33, 8, 1, Fraction(65, 33), "corners"), np.int8, 2),
    (Resized(3, 8, 8, 1, Fraction(2, 1), "centers"), np.int8, 2),
    (Resized(3, 8, 8, 1, Fraction(1, 2), "plain"), np.int8, 1),
    (Resized(3, 8, 8, 1, 3, "plain"), np.uint8, 2),
]


@pytest.mark.parametrize(("item", "dtype", "planes"), PLANES, ids=str)
def test_bytes_are_all_of_what_lies_between_two_columns(
    item: Resized, dtype: Any, planes: int
) -> None:
    *_, rows = steps(item, dtype)
    assert isinstance(rows, DividedOperation)
    first = [piece.operation for piece in rows.pieces[:planes]]
    rng = np.random.default_rng(0)
    width = rows.window.channels
    extremes = rng.choice(np.array([-128, 127]), (20, 2, width))
    x = np.concatenate([extremes, rng.integers(-128, 128, (80, 2, width))])
    octets = between(item, x, dtype)
    assert len(octets) == planes
    # The first output row is an input row, so that one table says what a byte counts.
    total = np.zeros(octets.shape[1:], np.int64)
    for part, plane in zip(first, octets, strict=True):
        assert isinstance(part, RowAddition)
        assert (part.tables[:, 1] == 0).all()
        total += part.tables[plane.astype(np.int8).view(np.uint8), 0]
    p = first[-1].parameters
    got = requantize(total, p.multiplier, p.shift, 0, -128, 127)
    # An output row that is an input row lies between columns alone.
    _, columns = dimensions(layer(item, dtype))
    weights = columns.weights.repeat(8, axis=0).T
    exact = (x * weights).sum(axis=1)
    away = np.sign(exact) * ((2 * np.abs(exact) + columns.one) // (2 * columns.one))
    np.testing.assert_array_equal(got, away)


def test_a_series_for_each_row() -> None:
    item = Resized(5, 7, 24, Fraction(8, 5), Fraction(13, 7), "centers", images=2)
    move, columns, rows = steps(item)
    assert isinstance(columns, DividedOperation)
    assert isinstance(rows, DividedOperation)
    assert move.output_image.columns == 2
    assert columns.output_image.rows == 4 * 2 * 5
    assert len(columns.pieces) == 4
    assert len(rows.pieces) == 4 * 8
    flags = [piece.operation.sums for piece in rows.pieces[:4]]
    both = SumFlag.KEEP | SumFlag.CONTINUE
    assert flags == [SumFlag.KEEP, both, both, SumFlag.CONTINUE]
    read = np.array(rows.window.row_reads)
    assert (np.diff(read, axis=0) >= 0).all()
    for number, piece in enumerate(rows.pieces):
        assert piece.rows == range(number // 4, number // 4 + 1)
        assert isinstance(piece.operation, RowAddition)
        first, end = read[number // 4]
        assert all(first <= row < end for row in piece.operation.rows)


ODD = [
    Resized(5, 5, 8, 3, 5, "plain"),
    Resized(5, 5, 8, 3, 5, "centers"),
    Resized(6, 9, 8, Fraction(5, 3), Fraction(7, 3), "plain"),
]


@pytest.mark.parametrize("item", ODD, ids=str)
def test_float32_weights_with_odd_denominators(item: Resized) -> None:
    *_, rows = steps(item, np.uint8)
    assert isinstance(rows, DividedOperation)


EVEN = [
    Resized(5, 5, 8, 6, 3, "plain"),
    Resized(4, 5, 8, Fraction(3, 2), 3, "centers"),
    # Products are in 1/1147.
    Resized(31, 37, 8, Fraction(31, 30), Fraction(37, 36), "corners"),
]


@pytest.mark.parametrize("item", EVEN, ids=str)
def test_refuses_others(item: Resized) -> None:
    with pytest.raises(BrokenLimitError, match="outputs that depend on how sums are rounded"):
        in_two_passes(layer(item, np.uint8), 0)


WIDE = [
    (
        Resized(2, 5, 4096, 1, Fraction(9, 5), "plain"),
        "has 36,864 bytes of an output row; the engine takes up to 32,760",
    ),
    (
        Resized(2, 2, 4097, 1, Fraction(3, 2), "plain"),
        "has 4,104 channels; the engine takes up to 4,096",
    ),
]


@pytest.mark.parametrize(("item", "why"), WIDE, ids=str)
def test_refuses_wide_rows(item: Resized, why: str) -> None:
    with pytest.raises(BrokenLimitError, match=f"^{why}$"):
        steps(item)


def test_small_images_stay_on_the_cpu() -> None:
    item = Resized(2, 3, 1, Fraction(7, 2), Fraction(5, 3), "centers")
    stages = compile_stages(item.case(np.int8).model, "64")
    assert "in a list of its own" in engine_refusals(stages)[0]
