"""SOFTMAX of int16: how near its tables and its results are."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from kiwicha.numerics.requantization import quantize_multiplier
from kiwicha.numerics.short_exponentials import (
    TABLE_POINTS,
    interpolated,
    short_exponentials,
    short_reciprocals,
    short_softmax,
    short_softmax_factor,
)
from tests.support.oracle.scalar import clamp, multiply

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


def rounded(x: float) -> int:
    """Return the nearest integer, halves away from zero."""
    return int(math.copysign(math.floor(abs(x) + 0.5), x))


def scalar_table(function: Callable[[float], float]) -> list[int]:
    """Return points of a function of 0 to 1, each moved by half of what its line is wrong."""
    found = []
    for k in range(512):
        point, middle, following = (2**15 * function((k + d) / 512) for d in (0, 0.5, 1))
        error = rounded((following + rounded(point)) / 2) - rounded(middle)
        found.append(rounded(point) - rounded(error / 2))
    return [clamp(x, -(2**15), 2**15 - 1) for x in [*found, rounded(2**15 * function(1))]]


def test_tables_are_those_of_real_numbers() -> None:
    """With 24 bits some points are one more or less, where a half is near."""
    exponentials = scalar_table(lambda x: math.exp(10 * x - 10))
    reciprocals = scalar_table(lambda x: 1 / (1 + x))
    for found, expected in (
        (short_exponentials(), exponentials),
        (short_reciprocals(), reciprocals),
    ):
        assert found.shape == (TABLE_POINTS,) == (513,)
        difference = np.abs(found.astype(int) - expected)
        assert difference.max() <= 1
        assert np.count_nonzero(difference) <= 5


def lookup(x: int, table: np.ndarray) -> int:
    """Return what is between two points of a table, rounded, halves up."""
    place, part = divmod(x + 2**15, 128)
    low, high = int(table[place]), int(table[place + 1])
    return low + math.floor((high - low) * part / 128 + 0.5)


def scalar_softmax(row: list[int], multiplier: int, shift: int) -> list[int]:
    """Return probabilities in the steps of the reference kernel."""
    exponentials, reciprocals = short_exponentials(), short_reciprocals()
    scaled = [multiply(x - max(row), multiplier, shift) + 2**15 - 1 for x in row]
    terms = [lookup(clamp(x, -(2**15), 2**15 - 1), exponentials) for x in scaled]
    total = sum(terms)
    # From 1 to 2 in 2**-16, less a half.
    bits = total.bit_length() - 1
    argument = (total * 2 ** (30 - bits) + 2**13) // 2**14 - 3 * 2**15
    inverse = lookup(clamp(argument, -(2**15), 2**15 - 1), reciprocals)
    products = [(term * inverse + 2 ** (bits - 1)) // 2**bits for term in terms]
    return [clamp(x, 0, 2**15 - 1) for x in products]


def test_lines_between_points() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(-(2**15), 2**15, TABLE_POINTS)
    values = [-(2**15), 2**15 - 1, *range(-200, 200), *rng.integers(-(2**15), 2**15, 300).tolist()]
    assert interpolated(values, table).tolist() == [lookup(x, table) for x in values]


@pytest.mark.parametrize("depth", [1, 2, 3, 40])
@pytest.mark.parametrize("scale", [2.0**-15, 2.0**-12, 0.01])
def test_every_rounding_of_probabilities(depth: int, scale: float) -> None:
    rng = np.random.default_rng(depth)
    factor = quantize_multiplier(short_softmax_factor(scale, 1.0))
    logits = rng.integers(-(2**15), 2**15, (40, depth))
    logits[:20] >>= 4
    found = short_softmax(logits, *factor, short_exponentials(), short_reciprocals())
    assert found.tolist() == [scalar_softmax(row, *factor) for row in logits.tolist()]


def test_factor_of_differences() -> None:
    assert short_softmax_factor(0.25, 2.0) == pytest.approx(0.5 * 65535 / 10, rel=1e-12)
