"""DIV of bytes: how near quotients are, and how many places they are shifted."""

import math

import numpy as np
import pytest

from kiwicha.numerics.quotients import MOST_PLACES, quotient_places, quotients
from kiwicha.numerics.requantization import quantize_multiplier

EVERY = np.arange(-255, 256)


@pytest.mark.parametrize("scale", [0.07, 0.5, 1.0, 1.9, 30.0])
@pytest.mark.parametrize("divisor", [-255, -128, -7, -2, -1, 1, 2, 3, 100, 128, 255])
def test_quotients_are_near(divisor: int, scale: float) -> None:
    multiplier, shift = quantize_multiplier(scale)
    exact = EVERY / divisor * scale
    found = quotients(EVERY, divisor, multiplier, shift)
    # Rounded twice; the reciprocal is exact to its last bits.
    assert np.abs(found - exact).max() <= 0.5 + 1e-6 * np.abs(exact).max()


@pytest.mark.parametrize("divisor", [-255, -3, -1, 1, 2, 128, 255])
def test_places_undo_every_shift(divisor: int) -> None:
    """What the divisor, the dividend and the scale are shifted to the left comes back."""
    # The reciprocal is 1/2 to 1, in 2**-31; the product is in half that.
    normal = math.floor(math.log2(abs(divisor)))
    for dividend in (-256, -255, -129, -128, -3, -2, -1, 1, 2, 127, 128, 255):
        # A number of 32 bits is shifted until it fills them: -2**n further than 2**n.
        signed = math.copysign(1, divisor) * dividend
        bits = math.floor(math.log2(signed)) if signed > 0 else math.ceil(math.log2(-signed)) - 1
        for shift in (-3, 0, 5):
            assert quotient_places(divisor, shift, dividend) == 30 - bits + normal - shift


def test_the_most_places() -> None:
    assert MOST_PLACES == 31
