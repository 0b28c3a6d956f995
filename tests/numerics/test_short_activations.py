"""Activation functions of int16: how near they are, and their table."""

import numpy as np
import pytest

from kiwicha.contract.recurrences import logistic_points
from kiwicha.numerics.short_activations import (
    POINTS,
    logistic_16,
    points,
    scaled_argument,
    short_logistic,
    short_tanh,
    tanh_16,
    tanh_scale,
)

EVERY = np.arange(-(2**15), 2**15)
UNIT = 2.0**-15


def test_the_logistic_function() -> None:
    exact = 1 / (1 + np.exp(-EVERY / 4096))
    assert np.abs(logistic_16(EVERY) * UNIT - exact).max() < 1.5 * UNIT
    assert (logistic_16(EVERY[1:]) >= logistic_16(EVERY[:-1])).all()


@pytest.mark.parametrize("exponent", range(-15, 1))
def test_tanh(exponent: int) -> None:
    found = tanh_16(EVERY, exponent)
    # Finer arguments are rounded to a third of 2**-12.
    allowed = (4 if exponent >= -12 else 8) * UNIT
    assert np.abs(found * UNIT - np.tanh(EVERY * 2.0**exponent)).max() < allowed
    assert (found[1:] >= found[:-1]).all()


def test_both_functions_have_one_table() -> None:
    table = points().astype(np.int64)
    assert table.shape == (POINTS,)
    # Every 512th of three times the argument is at a point.
    at = EVERY[(EVERY >= 0) & (EVERY * 3 % 512 == 0)]
    np.testing.assert_array_equal(logistic_16(at), table[at * 3 // 512] + 2**15 + 1 >> 1)
    at = at[at * 3 // 256 < POINTS]
    np.testing.assert_array_equal(tanh_16(at), table[at * 3 // 256])


TABLE = logistic_points()
ARGUMENTS = sorted(
    {
        sign * (place + more)
        for place in (0, 256, 512, 300 * 256, 253 * 512, 254 * 512, 255 * 512, 254 * 256, 255 * 256)
        for more in (-2, -1, 0, 1, 2, 255, 511)
        for sign in (-1, 1)
    }
    | set(range(-(2**15) * 3, 2**15 * 3, 997))
    | {2**31 - 1, 1 - 2**31, -65151, -62591}
)
"""In 1/12,288: around points, at the last of them, and behind."""


def line(magnitude: int, bits: int, end: int) -> int:
    """Return a line between two points of the logistic function, or what is behind the last."""
    place, part = divmod(magnitude, 2**bits)
    if place >= 255:
        return end
    return TABLE[place] * (2**bits - part) + TABLE[place + 1] * part


def test_every_rounding_of_the_logistic_function() -> None:
    for argument, found in zip(ARGUMENTS, short_logistic(ARGUMENTS).tolist(), strict=True):
        value = line(abs(argument), 9, 0x7FFF << 10)
        # Of negative numbers what is missing to 1, rounded the other way.
        value = value + 2**9 if argument >= 0 else 2**25 - value + 2**9 - 1
        assert found == value >> 10, argument


def test_every_rounding_of_tanh() -> None:
    for argument, found in zip(ARGUMENTS, short_tanh(ARGUMENTS).tolist(), strict=True):
        value = line(abs(argument), 8, 0xFFFF << 8) - 2**23
        value = value + 2**7 if argument >= 0 else -value + 2**7 - 1
        assert found == value >> 8, argument


def test_arguments_are_scaled_to_the_nearest() -> None:
    assert [tanh_scale(exponent) for exponent in (-15, -13, -12, -11, 0)] == [
        *((3, 3), (3, 1), (3, 0), (6, 0), (3 << 12, 0))
    ]
    for shift in (0, 1, 5):
        x = np.arange(-70, 70)
        exact = np.floor(x * 3 / 2**shift + 0.5)
        np.testing.assert_array_equal(scaled_argument(x, 3, shift), exact)


def test_arguments_of_the_logistic_function_are_in_4096ths() -> None:
    np.testing.assert_array_equal(logistic_16(EVERY), short_logistic(3 * EVERY))
    np.testing.assert_array_equal(tanh_16(EVERY), tanh_16(EVERY, -12))
