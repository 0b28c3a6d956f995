"""Weights of two products per multiplier: what the sum of a word can hold."""

import numpy as np
import pytest

from kiwicha.contract.engine import INPUT_LANES, PACKED_WEIGHT_LIMIT, PACKED_WEIGHTS_LIMIT
from kiwicha.program.packed_weights import are_first, are_packable, are_second, is_first

_FIRST_SUM_BITS = 18
_SUM_SHIFT = 17
_FACTOR_BITS = 25


def test_the_largest_weights_that_are_allowed_fit_18_bits() -> None:
    """Whichever signs weights and inputs have, each product is at most its weight times 128."""
    assert -(2 ** (_FIRST_SUM_BITS - 1)) <= -128 * PACKED_WEIGHTS_LIMIT
    assert 128 * PACKED_WEIGHTS_LIMIT < 2 ** (_FIRST_SUM_BITS - 1)
    assert 128 * (PACKED_WEIGHTS_LIMIT + 1) == 2 ** (_FIRST_SUM_BITS - 1)


def test_second_weights_fit_the_factor_beside_any_first_one() -> None:
    for second in (-PACKED_WEIGHT_LIMIT, PACKED_WEIGHT_LIMIT):
        for first in (-256, 255):
            factor = second * 2**_SUM_SHIFT + first
            assert -(2 ** (_FACTOR_BITS - 1)) <= factor < 2 ** (_FACTOR_BITS - 1)


def test_first_channels_are_those_of_the_first_eight_of_each_group() -> None:
    assert np.flatnonzero(is_first(28)).tolist() == [*range(8), *range(16, 24)]


@pytest.mark.parametrize("seed", range(20))
def test_channels_are_first_if_their_largest_weights_are_few(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(-255, 256, (40, int(rng.integers(1, 30)))) // int(rng.integers(1, 4))
    for row, fits in zip(weights, are_first(weights), strict=True):
        largest = sorted(map(abs, row.tolist()))[-INPUT_LANES:]
        assert fits == (sum(largest) <= PACKED_WEIGHTS_LIMIT)
    expected = [all(abs(weight) <= PACKED_WEIGHT_LIMIT for weight in row) for row in weights]
    assert are_second(weights).tolist() == expected


@pytest.mark.parametrize(("channel", "is_packable"), [(7, True), (8, False), (16, True)])
def test_a_large_weight_is_allowed_in_first_channels(channel: int, is_packable: bool) -> None:
    weights = np.full((24, 9), PACKED_WEIGHT_LIMIT)
    assert are_packable(weights)
    weights[channel] = 1
    weights[channel, 4] = -200
    assert are_packable(weights) is is_packable
