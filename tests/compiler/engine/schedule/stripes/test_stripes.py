"""Stripes: all rows, and for each layer the rows that the next ones need."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import MaxPooling
from kiwicha.compiler.engine.schedule.stripes.stripes import Rows, Stripe, by_image
from kiwicha.program.weight_streams import Parameters

WINDOWS = [
    Window(40, 10, 16, 40, 10, 3, 3, pad_top=1, pad_left=1),
    Window(41, 5, 8, 20, 2, 3, 3, 2, 2),
    Window(30, 7, 3, 10, 3, 5, 2, 3, 2, dilation_rows=2, pad_top=4),
    Window(64, 6, 24, 64, 6),
    Window(20, 10, 16, 20, 10, 3, 3, pad_top=1, pad_left=1).repeated(3),
    Window(11, 5, 8, 5, 2, 3, 3, 2, 2).repeated(4),
    Window(12, 5, 8, 4, 5, 4, 1, 3).repeated(5),
    Window(12, 5, 8, 4, 5, 3, 1, 3).repeated(5),
    Window(7, 5, 8, 1, 5, 7, 1).repeated(5),
    Window(6, 5, 8, 13, 10, 3, 3, 2, 2, is_transposed=True),
    Window(6, 5, 8, 12, 10, 4, 4, 2, 2, pad_top=1, pad_left=1, is_transposed=True).repeated(3),
    Window(6, 5, 8, 6, 5, 5, 5, pad_top=2, pad_left=2, is_transposed=True),
    Window(6, 5, 8, 4, 5, row_reads=((0, 2), (1, 4), (1, 4), (5, 6))),
    Window(6, 5, 8, 4, 5, row_reads=((0, 2), (1, 4), (1, 4), (5, 6))).repeated(3),
]
CHAIN = [
    Window(40, 10, 16, 40, 10),
    Window(40, 10, 16, 40, 10, 3, 3, pad_top=1, pad_left=1),
    Window(40, 10, 16, 40, 10),
    Window(40, 10, 16, 20, 5, 3, 3, 2, 2, pad_top=0, pad_left=1),
]


def rows_of(windows: Sequence[Window], readers: Sequence[tuple[int, ...]]) -> Rows:
    """Give the rows of operations with these windows, the first of which reads tensor 0."""
    operations = []
    for number, window in enumerate(windows):
        inputs = [k + 1 for k, found in enumerate(readers) if number in found]
        operations.append(
            MaxPooling(
                position=number,
                inputs=tuple(inputs) or (0,),
                output=number + 1,
                window=window,
                output_channels=8,
                clamp=(-128, 127),
                parameters=Parameters(*np.zeros((3, 8), np.int32)),
                output_zero_point=0,
            )
        )
    return Rows(operations, readers)


def needed_rows(window: Window, row: int) -> set[int]:
    image, row = divmod(row, window.output_rows // window.images)
    rows = window.input_rows // window.images
    if window.row_reads:
        return {image * rows + number for number in range(*window.row_reads[row])}
    if window.is_transposed:
        reached = range(row + window.pad_top - window.kernel_rows + 1, row + window.pad_top + 1)
        inputs = {number: number * window.stride_rows for number in range(rows)}
        return {image * rows + number for number, top in inputs.items() if top in reached}
    taken = (
        row * window.stride_rows - window.pad_top + k * window.dilation_rows
        for k in range(window.kernel_rows)
    )
    return {image * rows + number for number in taken if 0 <= number < rows}


def rows_there(stripe: Stripe) -> set[int]:
    return set(range(stripe.first_input_row, stripe.first_input_row + stripe.input_rows))


def rows_computed(stripe: Stripe) -> range:
    return range(stripe.first_output_row, stripe.first_output_row + stripe.output_rows)


def check_inputs(window: Window, stripe: Stripe) -> None:
    needed = set().union(*(needed_rows(window, row) for row in rows_computed(stripe)))
    assert needed <= rows_there(stripe)
    # Nothing outside the image is taken for a row of the stripe.
    assert rows_there(stripe) <= set(range(window.input_rows))
    if window.dilation_rows == 1:
        assert rows_there(stripe) <= set(range(min(needed), max(needed) + 1))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("height", [1, 3, 7, 100])
def test_stripes_of_a_layer(window: Window, height: int) -> None:
    found = [stripe for (stripe,) in rows_of([window], [()]).stripes(height)]
    rows = list(itertools.chain.from_iterable(map(rows_computed, found)))
    assert rows == list(range(window.output_rows))
    assert all(stripe.output_rows <= height for stripe in found)
    for stripe in found:
        check_inputs(window, stripe)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("height", [1, 7, 100])
def test_stripes_by_image(window: Window, height: int) -> None:
    rows = window.output_rows // window.images
    for (whole,) in rows_of([window], [()]).stripes(height):
        found = by_image(window, whole)
        assert list(itertools.chain.from_iterable(map(rows_computed, found))) == list(
            rows_computed(whole)
        )
        for part in found:
            assert len({row // rows for row in rows_computed(part)}) == 1
            check_inputs(window, part)


def test_images_without_borders_are_one() -> None:
    windows = WINDOWS[4:9]
    assert [window.images for window in windows] == [3, 4, 5, 1, 1]
    assert [window.stride_rows for window in windows] == [1, 2, 3, 3, 7]


@pytest.mark.parametrize("height", [1, 4, 6, 20])
def test_stripes_of_layers_in_a_row(height: int) -> None:
    # The third layer's output is read by the last one; the first's by the second and the third.
    readers = [(1, 2), (2,), (3,), ()]
    found = rows_of(CHAIN, readers).stripes(height)
    assert [row for part in found for row in rows_computed(part[-1])] == list(range(20))
    for parts in found:
        for number, (window, part) in enumerate(zip(CHAIN, parts, strict=True)):
            check_inputs(window, part)
            read = [rows_there(parts[reader]) for reader in readers[number]]
            if read:
                wanted = set().union(*read)
                assert set(rows_computed(part)) == set(range(min(wanted), max(wanted) + 1))


def test_rows_that_two_stripes_need_are_computed_twice() -> None:
    first, second = rows_of(CHAIN[:2], [(1,), ()]).stripes(20)
    assert [part.output_rows for part in first] == [21, 20]
    assert (second[0].first_output_row, second[0].output_rows) == (19, 21)
