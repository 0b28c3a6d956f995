"""Fixed-point activation functions against the real ones, and at their limits."""

import math

import numpy as np
import pytest

from kiwicha.numerics.activations import HardSwishScale, hard_swish, logistic, tanh

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
