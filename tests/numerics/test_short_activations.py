"""Activation functions of int16: how near they are, and the lines that kernels use."""

import numpy as np
import pytest

from kiwicha.numerics.short_activations import PIECES, logistic_16, pieces, tanh_16, tanh_scale

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


def test_lines_are_both_functions() -> None:
    lines = pieces().astype(np.int64)
    assert lines.shape == (PIECES,)

    def line(scaled: np.ndarray, bits: int) -> np.ndarray:
        """Give 2**bits times what the line of each argument says, and a half."""
        word = lines[(scaled >> bits) + PIECES // 2]
        above = (scaled & ((1 << bits) - 1)) * (word & 0xFFFF)
        return ((word >> 16) << bits) + above + (scaled >> 63)

    np.testing.assert_array_equal((line(EVERY * 3, 9) + 512 >> 10) + 2**14, logistic_16(EVERY))
    for exponent in range(-15, 1):
        multiplier, shift = tanh_scale(exponent)
        scaled = (EVERY * multiplier + ((1 << shift) >> 1)) >> shift
        found = line(scaled.clip(-(2**16), 2**16 - 1), 8) + 128 >> 8
        np.testing.assert_array_equal(found, tanh_16(EVERY, exponent))
