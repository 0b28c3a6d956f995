"""SOFTMAX of int16: how near its tables and its results are."""

import numpy as np
import pytest

from kiwicha.numerics.requantization import quantize_multiplier
from kiwicha.numerics.short_exponentials import (
    interpolated,
    short_exponentials,
    short_reciprocals,
    short_softmax,
    short_softmax_factor,
)

ALL_SHORTS = np.arange(-(2**15), 2**15)
PLACES = (ALL_SHORTS + 2**15) / 2**16
"""From the first point of a table, 0, to its last one, 1."""


def test_exponentials() -> None:
    exact = np.exp(PLACES * 10 - 10) * 2**15
    assert np.abs(interpolated(ALL_SHORTS, short_exponentials()) - exact).max() < 2.5


def test_reciprocals() -> None:
    exact = 2**15 / (1 + PLACES)
    assert np.abs(interpolated(ALL_SHORTS, short_reciprocals()) - exact).max() < 1.5


@pytest.mark.parametrize("depth", [1, 2, 10, 300])
def test_probabilities(depth: int) -> None:
    rng = np.random.default_rng(depth)
    scale = 2.0**-12
    logits = rng.integers(-(2**15), 2**15, (20, depth))
    factor = quantize_multiplier(short_softmax_factor(scale, 1.0))
    found = short_softmax(logits, *factor, short_exponentials(), short_reciprocals()) / 2**15
    weights = np.exp((logits - logits.max(axis=1, keepdims=True)) * scale)
    exact = weights / weights.sum(axis=1, keepdims=True)
    # What is below exp(-10) counts as that.
    assert np.abs(found - exact).max() < 2e-4 + depth * np.exp(-10.0)
