"""Regions in rows of another length: how long these are, and which operations need their own."""

import math

import pytest

from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.schedule.other_rows import any_rows_around, with_other_rows
from kiwicha.compiler.engine.schedule.schedule import schedule
from kiwicha.contract.configs import find_config
from tests.compiler.engine.build import addition, chain, convolution, pointwise, region

CAPACITY = 65536
CONFIG = find_config("64")


def sums(*windows: Window) -> Region:
    """Give a chain of sums of a tensor and itself."""
    return chain(*(addition(k, (k, k), window) for k, window in enumerate(windows)))


@pytest.mark.parametrize("shape", [(1, 1, 100_000), (26, 26, 255), (7, 11, 1100), (1, 1, 83_009)])
def test_runs_of_bytes(shape: tuple[int, int, int]) -> None:
    window = Window.of_pixels(*shape)
    found = with_other_rows(sums(window, window), CAPACITY)
    assert found is not None
    for operation in found.operations:
        image = operation.output_image
        assert image.bytes == math.prod(shape)
        assert math.lcm(image.row_bytes, 16) <= CAPACITY // 32
    assert schedule(sums(window, window), CONFIG).scratchpad_bytes <= CAPACITY


def test_pixels_keep_their_channels() -> None:
    found = with_other_rows(chain(pointwise(0, 2, 3000, 24, 40)), CAPACITY)
    assert found is not None
    (operation,) = found.operations
    window = operation.window
    assert (window.channels, operation.output_channels) == (24, 40)
    assert window.output_pixels == 6000
    assert math.lcm(window.output_columns * 40, 16) <= CAPACITY // 32


def test_windows_need_their_rows() -> None:
    window = Window(9, 9, 8, 9, 9, kernel_rows=3, kernel_columns=3, pad_top=1, pad_left=1)
    assert with_other_rows(chain(convolution(0, window, 8)), CAPACITY) is None


def test_neighbours_have_other_rows_together() -> None:
    window, other = Window.of_pixels(5, 7, 9), Window.of_pixels(3, 5, 21)
    taps = Window(5, 7, 9, 5, 7, kernel_rows=3, pad_top=1)
    found = region(
        *(addition(0, (0, 0), window), convolution(1, taps, 9)),
        *(addition(2, (2, 2), window), addition(3, (3, 3), other)),
        loads={0},
        stores={4},
    )
    around = [any_rows_around(found.operations, number) for number in range(4)]
    assert around == [range(1), range(1, 1), range(2, 4), range(2, 4)]
