"""Activation functions of int16: how near they are, and their table."""

import numpy as np
import pytest

from kiwicha.numerics.short_activations import POINTS, logistic_16, points, tanh_16

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
