"""Quantization helpers against their definitions."""

import numpy as np
import pytest

from kiwicha.training.quantize import (
    INPUT,
    PROBABILITY,
    fold_batch_norm,
    quantize_range,
    quantize_weights,
)


@pytest.mark.parametrize("shape", [(8, 1, 3, 3), (5, 7, 1, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_folded_convolution_equals_convolution_and_normalisation(
    shape: tuple[int, ...], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    weights, patch = rng.normal(size=shape), rng.normal(size=shape[1:])
    gamma, beta, mean = rng.normal(size=(3, shape[0]))
    variance = rng.uniform(0.1, 2, shape[0])
    folded, bias = fold_batch_norm(weights, gamma, beta, mean, variance, 1e-3)
    plain = (weights * patch).sum((1, 2, 3))
    normalised = (plain - mean) / np.sqrt(variance + 1e-3) * gamma + beta
    np.testing.assert_allclose((folded * patch).sum((1, 2, 3)) + bias, normalised)


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_within_half_a_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(16, 4, 3, 3)) * rng.uniform(1e-3, 10, (16, 1, 1, 1))
    bias = rng.normal(size=16)
    constants = quantize_weights(weights, bias, 0.02)
    scales = constants.scales.astype(np.float64)
    steps = np.abs(constants.weights * scales[:, None, None, None] - weights)
    assert (steps <= scales[:, None, None, None] * 0.5001).all()
    assert (np.abs(constants.bias * scales * 0.02 - bias) <= scales * 0.0101).all()
    assert (np.abs(constants.weights).reshape(16, -1).max(1) == 127).all()


def test_weights_never_reach_minus_128() -> None:
    weights = np.array([-1.0, 1.0, -0.999999]).reshape(1, 3, 1, 1)
    stored = quantize_weights(weights, np.zeros(1), 0.02).weights
    assert stored.ravel().tolist() == [-127, 127, -127]


def test_large_bias_with_small_weights_fits_in_int32() -> None:
    weights, bias = np.full((2, 1, 1, 1), 1e-12), np.array([5.0, -5.0])
    constants = quantize_weights(weights, bias, 0.01)
    assert np.abs(constants.bias.astype(np.int64)).max() <= 2**30 + 64
    np.testing.assert_allclose(constants.bias * constants.scales * 0.01, bias, rtol=1e-6)


def test_dead_channel_has_a_usable_scale() -> None:
    constants = quantize_weights(np.zeros((1, 4, 1, 1)), np.zeros(1), 0.02)
    assert constants.scales.tolist() == [1.0]
    assert not constants.weights.any()
    assert not constants.bias.any()


@pytest.mark.parametrize(
    ("low", "high", "zero_point", "step"),
    [
        (0.0, 6.0, -128, 6 / 255),
        (1.0, 6.0, -128, 6 / 255),
        (-6.0, 0.0, 127, 6 / 255),
        (-1.0, 1.004, -1, 2.004 / 255),
        (-3.0, 1.0, 63, 4 / 255),
        (0.0, 0.0, -128, 1.0),
    ],
)
def test_range_is_covered_and_holds_zero(
    low: float, high: float, zero_point: int, step: float
) -> None:
    chosen = quantize_range(low, high)
    assert chosen.scale == pytest.approx(step)
    assert chosen.zero_point == zero_point
    assert (-128 - zero_point) * chosen.scale <= min(low, 0) + chosen.scale / 2
    assert (127 - zero_point) * chosen.scale >= high - chosen.scale / 2


def test_input_and_output_have_their_documented_meaning() -> None:
    pixels = np.array([0, 127, 255])
    real = (pixels - 128 - INPUT.zero_point) * INPUT.scale
    np.testing.assert_allclose(real, [-254 / 255, 0, 256 / 255], rtol=1e-6)
    assert (127 - PROBABILITY.zero_point) * PROBABILITY.scale == 255 / 256
