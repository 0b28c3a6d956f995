"""Limits of operations: the last number that is taken, and the first that is not."""

from functools import partial

import numpy as np
import pytest

from kiwicha.compiler.engine.ir.limits import (
    DEPTHWISE_LIMITS,
    OPERATION_LIMITS,
    ROW_LIMITS,
    SPREAD_LIMITS,
    WINDOW_LIMITS,
    broken_row_limit,
    limit,
    require,
    verify,
    without_rows,
)
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.window import Window
from tests.compiler.engine.build import addition, convolution, depthwise, max_pooling

CHANNELS = 8


def window(**fields: int) -> Window:
    """Give the geometry of one output of 8 channels."""
    size = {"input_rows": 1, "input_columns": 1, "channels": CHANNELS}
    return Window(**(size | {"output_rows": 1, "output_columns": 1} | fields))


def conv(outputs: int = 8, **fields: int) -> JobOperation:
    return convolution(0, window(**fields), outputs, weights=np.zeros(0, np.int16))


def taps(weight: int = 1, **fields: int) -> JobOperation:
    found = window(**fields)
    shape = (found.kernel_rows, found.kernel_columns, CHANNELS)
    return depthwise(0, found, weights=np.full(shape, weight, np.int16))


def maxima(**fields: int) -> JobOperation:
    return max_pooling(0, window(**fields))


def sums(channels: int) -> JobOperation:
    """Give a sum with an operand of one pixel."""
    pixels = Window.of_pixels(1, 1, channels)
    return addition(0, (0, 1), pixels, is_by_channel=True)


CASES = {
    "kernel_rows": (maxima(kernel_rows=255), maxima(kernel_rows=256), "has 256 kernel rows"),
    "strides": (
        conv(stride_rows=255),
        conv(stride_rows=256),
        "has 256 rows or columns from one to the next",
    ),
    "input_row_bytes": (
        conv(input_columns=8191),
        conv(input_columns=8192),
        "has 65,536 bytes of an input row; the engine takes up to 65,535",
    ),
    "column_step_bytes": (
        conv(stride_columns=255, channels=256),
        conv(stride_columns=255, channels=264),
        "has 67,320 bytes from one column to the next",
    ),
    "output_channels": (conv(65_528), conv(65_529), "has 65,529 output channels"),
    "left_padding": (
        maxima(pad_left=4096),
        maxima(pad_left=4097),
        "has 32,776 bytes of padding left of a row",
    ),
    "top_padding": (
        conv(pad_top=512, input_columns=64),
        conv(pad_top=513, input_columns=64),
        "has 262,656 bytes of padding above an image",
    ),
    "weights_per_output": (
        conv(kernel_rows=16, kernel_columns=16),
        conv(kernel_rows=16, kernel_columns=17),
        "has 2,176 weights per output; the engine takes up to 2,048",
    ),
    "depthwise_columns": (
        taps(kernel_columns=8),
        taps(kernel_columns=9),
        "has 9 kernel columns for each column of stride; the engine takes up to 8",
    ),
    "depthwise_padding": (
        taps(kernel_columns=3, pad_left=2),
        taps(kernel_columns=3, pad_left=3),
        "has 3 columns of padding left of a row; the engine takes up to 2",
    ),
    "depthwise_words": (
        taps(kernel_rows=128, stride_columns=2),
        taps(kernel_rows=129, stride_columns=2),
        "has 258 kernel rows times columns of stride; the engine takes up to 256",
    ),
    "depthwise_sums": (
        # 128 * 8 * 126 * 130 < 2**24 <= 128 * 8 * 127 * 130: the zero point of -3 leaves 130.
        taps(kernel_rows=128, kernel_columns=8, weight=126),
        taps(kernel_rows=128, kernel_columns=8, weight=127),
        "has 26 bits of its largest sum; the engine takes up to 25",
    ),
    "max_pool_columns": (
        maxima(kernel_columns=255),
        maxima(kernel_columns=256),
        "has 256 window columns; the engine takes up to 255",
    ),
    "element_channels": (sums(65_528), sums(65_529), "has 65,529 channels"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_limit_takes_the_last_number_and_no_more(name: str) -> None:
    last, first_broken, why = CASES[name]
    # That of a form, before there are weights.
    check = partial(require, SPREAD_LIMITS) if name == "weights_per_output" else verify
    check(last)
    with pytest.raises(BrokenLimitError) as caught:
        check(first_broken)
    assert caught.value.why.startswith(why)


def test_every_limit_has_a_case() -> None:
    assert len(CASES) == len(OPERATION_LIMITS)
    assert not {*SPREAD_LIMITS} - {*OPERATION_LIMITS}
    assert not {*DEPTHWISE_LIMITS} - {*OPERATION_LIMITS}


def test_a_limit_is_its_docstring() -> None:
    @limit("CONV_2D", most=2048)
    def count(number: int) -> str | None:
        """There are up to {most} of them.

        Not more.
        """
        return f"has {number}" if number > 2048 else None

    assert (count.rule, count.operators) == (
        "There are up to 2,048 of them. Not more.",
        ("CONV_2D",),
    )
    require([count], 2048)
    with pytest.raises(BrokenLimitError, match=r"^has 2049$"):
        require([count], 2049)


def test_limits_of_whole_rows_are_kept_unless_rows_are_in_parts() -> None:
    others = [item for item in WINDOW_LIMITS if item not in ROW_LIMITS]
    assert len(WINDOW_LIMITS) == len(ROW_LIMITS) + len(others)
    assert others
    whole = convolution(0, window(), 8)
    parts = convolution(0, window(), 8, has_long_rows=True)
    assert without_rows(WINDOW_LIMITS) == others
    assert without_rows(WINDOW_LIMITS, parts) == others
    assert without_rows(WINDOW_LIMITS, whole) == [*WINDOW_LIMITS]


def test_the_first_broken_limit_of_rows_is_named() -> None:
    assert broken_row_limit(convolution(0, window(), 8)) is None
    why = broken_row_limit(convolution(0, window(input_columns=8192, pad_left=4097), 8))
    assert why is not None
    assert why.startswith("has 65,536 bytes of an input row;")
