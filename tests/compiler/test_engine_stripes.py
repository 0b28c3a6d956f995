"""Stripes: all rows, the rows they need, and no more memory than there is."""

import itertools

import pytest

from kiwicha.compiler.engine_layers import Window
from kiwicha.compiler.engine_stripes import Stripe, stripes

WINDOWS = [
    Window(40, 10, 16, 40, 10, 3, 3, pad_top=1, pad_left=1),
    Window(41, 5, 8, 20, 2, 3, 3, 2, 2),
    Window(30, 7, 3, 10, 3, 5, 2, 3, 2, dilation_rows=2, pad_top=4),
    Window(64, 6, 24, 64, 6),
]


def needed_rows(window: Window, row: int) -> set[int]:
    rows = (
        row * window.stride_rows - window.pad_top + k * window.dilation_rows
        for k in range(window.kernel_rows)
    )
    return {number for number in rows if 0 <= number < window.input_rows}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("free", [1500, 4000, 20_000])
@pytest.mark.parametrize(("inputs", "is_output"), [(1, False), (0, True), (1, True), (2, True)])
def test_stripes(window: Window, free: int, inputs: int, is_output: bool) -> None:
    pitch = 16
    found = stripes(window, window.channels, pitch, inputs, is_output, free, 500)
    if found is None:
        return
    rows = [
        row for s in found for row in range(s.first_output_row, s.first_output_row + s.output_rows)
    ]
    assert rows == list(range(window.output_rows))
    input_row = window.input_columns * window.channels
    for stripe in found:
        there = set(range(stripe.first_input_row, stripe.first_input_row + stripe.input_rows))
        wanted = range(stripe.first_output_row, stripe.first_output_row + stripe.output_rows)
        needed = set().union(*(needed_rows(window, row) for row in wanted))
        assert needed <= there
        assert stripe.first_output_row * window.output_columns * pitch % 16 == 0
        # Nothing outside the image is taken for a row of the stripe.
        assert stripe.first_input_row >= 0
        assert stripe.first_input_row + stripe.input_rows <= window.input_rows
    for first, second in itertools.pairwise(found):
        size = sum(inputs * s.input_rows * input_row for s in (first, second))
        if is_output:
            size += sum(s.output_rows * window.output_columns * pitch for s in (first, second))
        assert size <= free


def test_one_stripe_where_everything_is_in_the_scratchpad() -> None:
    (stripe,) = stripes(WINDOWS[0], 16, 16, 0, False, 0, 10**9) or []
    assert stripe == Stripe(0, 40, 0, 40)


def test_none_where_a_row_does_not_fit() -> None:
    assert stripes(WINDOWS[0], 16, 16, 1, True, 600, 0) is None
    assert stripes(WINDOWS[0], 16, 16, 1, True, 2000, 0) is not None


def test_heavy_weights_are_not_read_again() -> None:
    window = WINDOWS[0]
    assert len(stripes(window, 16, 16, 1, False, 60_000, 10**6) or []) == 1
    assert len(stripes(window, 16, 16, 1, False, 60_000, 100) or []) == 4


@pytest.mark.parametrize("columns", [1, 3, 5])
def test_stripes_start_at_aligned_offsets(columns: int) -> None:
    window = Window(50, columns, 8, 50, columns)
    found = stripes(window, 8, 8, 1, True, 600, 0)
    assert found is not None
    assert len(found) > 2
    assert all(s.first_output_row * columns * 8 % 16 == 0 for s in found)
