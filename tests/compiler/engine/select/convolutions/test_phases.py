"""Phases of transposed convolutions: each output once, with the taps that reach it."""

import itertools

import numpy as np
import pytest

from kiwicha.compiler.engine.ir.limits import WINDOW_LIMITS, require
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.select.convolutions.phases import transposed_convolution
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.program.weight_streams import Parameters


def layer(
    size: int, output: int, kernel: int, stride: int, pad: int, outputs: int = 2
) -> WeightedLayer:
    window = Window(
        input_rows=size,
        input_columns=size + 1,
        channels=3,
        output_rows=output,
        output_columns=output + stride,
        kernel_rows=kernel,
        kernel_columns=kernel,
        stride_rows=stride,
        stride_columns=stride,
        pad_top=pad,
        pad_left=pad,
        is_transposed=True,
    )
    return WeightedLayer(
        position=0,
        input=0,
        output=1,
        window=window,
        # Any others could make outputs constant, and their weights 0.
        parameters=Parameters(*(np.full(outputs, value, np.int32) for value in (0, *UNIT_SCALE))),
        input_zero_point=0,
        output_zero_point=0,
        clamp=(-128, 127),
    )


CASES = [
    (size, (size - 1) * stride + kernel - pad, kernel, stride, pad)
    for size, kernel, stride in itertools.product((1, 4), (1, 2, 3, 5), (1, 2, 3))
    for pad in range(min(kernel, (size - 1) * stride + kernel))
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_phases_are_the_layer(case: tuple[int, int, int, int, int]) -> None:
    whole = layer(*case)
    window = whole.window
    kernel, stride, pad = case[2:]
    rng = np.random.default_rng(0)
    weights = rng.integers(-9, 10, (2, kernel, kernel, 3), np.int16)
    x = rng.integers(-9, 10, (window.input_rows, window.input_columns, 3))
    # By definition: each input adds the kernel to a window of outputs.
    size = window.output_rows + kernel + pad, window.output_columns + kernel + pad
    expected = np.zeros((size[0] + 9, size[1] + 9, 2), np.int64)
    for y, column in np.ndindex(x.shape[:2]):
        target = expected[y * stride :, column * stride :][:kernel, :kernel]
        target += np.einsum("ohwi,i->hwo", weights, x[y, column])[: target.shape[0]]
    expected = expected[pad:, pad:][: window.output_rows, : window.output_columns]
    found = np.full((window.output_rows, window.output_columns, 2), 1 << 40)
    for piece in transposed_convolution(whole, weights).pieces:
        part = piece.operation
        assert isinstance(part, Convolution)
        columns = piece.columns or range(window.output_columns)
        assert len(piece.rows) == part.window.output_rows
        assert len(columns) == part.window.output_columns
        for (m, row), (n, column) in itertools.product(enumerate(piece.rows), enumerate(columns)):
            assert found[row, column, 0] == 1 << 40
            found[row, column] = _sum(x, part, m, n)
    np.testing.assert_array_equal(found, expected)


def _sum(x: np.ndarray, part: Convolution, row: int, column: int) -> np.ndarray:
    """Return the sums of an output of a convolution without strides."""
    total = np.zeros(2, np.int64)
    for ky, kx in np.ndindex(part.weights.shape[1:3]):
        y, x_column = row + ky - part.window.pad_top, column + kx - part.window.pad_left
        if 0 <= y < x.shape[0] and 0 <= x_column < x.shape[1]:
            total += part.weights[:, ky, kx] @ x[y, x_column]
    return total


def test_a_stride_of_columns_has_a_limit() -> None:
    bad = layer(2, 600, 3, 250, 0, outputs=264)
    require(WINDOW_LIMITS, bad)
    with pytest.raises(BrokenLimitError) as caught:
        transposed_convolution(bad, np.zeros((264, 3, 3, 3), np.int16))
    assert caught.value.why.startswith("has 66,000 bytes from a column of a phase to the next")
