"""Fixed-point activation functions against the real ones, and at their limits."""

import math

import numpy as np
import pytest

from kiwicha.numerics.activations import HardSwishScale, hard_swish, logistic, tanh
from tests.support.oracle.scalar import clamp, divide_by_pot, truncated_quotient

ARGUMENTS = np.unique(
    np.concatenate([
        np.linspace(-(2**31) + 1, 2**31 - 1, 4001).astype(np.int64),
        np.arange(-40, 41),
        np.ravel([[2**k - 1, 2**k, -(2**k), 1 - 2**k] for k in range(31)]),
    ])
)
REAL = ARGUMENTS / 2.0**27


def test_logistic() -> None:
    error = logistic(ARGUMENTS) / 2.0**31 - 1 / (1 + np.exp(-REAL))
    assert np.abs(error).max() < 2**-23
    assert logistic(0) == 2**30
    assert logistic(2**31 - 1) + logistic(-(2**31) + 1) == 2**31 - 1


def test_tanh() -> None:
    error = tanh(ARGUMENTS) / 2.0**31 - np.tanh(REAL)
    assert np.abs(error).max() < 2**-22
    assert tanh(0) == 0
    np.testing.assert_array_equal(tanh(ARGUMENTS), -tanh(-ARGUMENTS))


def halved(real: float) -> HardSwishScale:
    mantissa, exponent = math.frexp(real)
    return HardSwishScale(min(round(mantissa * 2**15), 2**15 - 1), exponent)


@pytest.mark.parametrize("scale", [0.003, 0.02, 0.1, 3.0])
def test_hard_swish(scale: float) -> None:
    x = np.arange(-255, 256)
    output_scale = max(scale, 0.01)
    got = hard_swish(x, halved(scale / 128 / output_scale), halved(scale / 128 / (3 / 2**15)))
    real = x * scale
    expected = real * np.clip(real + 3, 0, 6) / 6 / output_scale
    # The gate has 15 bits; the product is rounded towards zero, the result to nearest.
    assert np.abs(got - expected).max() < 0.55


def short(x: int) -> int:
    return clamp(x, -(2**15), 2**15 - 1)


def high_mul_of_shorts(a: int, b: int) -> int:
    """Return the doubled high product as C has it: nudge, then truncating division."""
    nudge = 2**14 if a * b >= 0 else 1 - 2**14
    return truncated_quotient(a * b + nudge, 2**15)


def scalar_hard_swish(x: int, output: HardSwishScale, reluish: HardSwishScale) -> int:
    """Return the result in the steps of the reference kernel, each an int16."""
    gate = 128 * x
    if reluish.exponent > 0:
        gate = short(gate * 2 ** (reluish.exponent - 1))
        gate = short(2 * high_mul_of_shorts(gate, reluish.multiplier))
    else:
        gate = divide_by_pot(high_mul_of_shorts(gate, reluish.multiplier), -reluish.exponent)
    gate = (gate + 2**15) // 2
    product = gate * high_mul_of_shorts(128 * x, output.multiplier)
    return divide_by_pot(truncated_quotient(product, 2**15), -output.exponent)


@pytest.mark.parametrize("exponent", [-15, -4, -1, 0, 1, 2, 3, 7, 15])
@pytest.mark.parametrize("multiplier", [0, 10000, 16384, 20001, 32767])
def test_hard_swish_has_every_rounding_of_the_reference(exponent: int, multiplier: int) -> None:
    x = [-255, -254, -129, -128, -127, -65, *range(-16, 17), 64, 127, 128, 129, 254, 255]
    reluish = HardSwishScale(multiplier, exponent)
    for output in (HardSwishScale(2**15 - 1, 0), HardSwishScale(17011, -1), HardSwishScale(0, -6)):
        expected = [scalar_hard_swish(value, output, reluish) for value in x]
        assert hard_swish(x, output, reluish).tolist() == expected
