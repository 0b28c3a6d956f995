"""Bounds of sums, folded channels and exact division, against all sums or all inputs."""

import numpy as np
import pytest

from kiwicha.compiler.engine.select.reductions.pools import WEIGHTS
from kiwicha.compiler.optimize import ranges as bounds
from kiwicha.numerics.requantization import requantize, wrap_int32
from kiwicha.program.weight_streams import Parameters


def divided(sums: np.ndarray, count: int) -> np.ndarray:
    """Divide as C does, after half the divisor was added away from zero."""
    return np.array([int((s + (count // 2 if s > 0 else -(count // 2))) / count) for s in sums])


@pytest.mark.parametrize("count", [*range(1, 33), 49, 64, 100, 121, 255, 510, 1024])
@pytest.mark.parametrize("offset", [0, 128])
def test_division_of_every_sum(count: int, offset: int) -> None:
    found = bounds.exact_division(count, offset)
    assert found is not None
    multiplier, shift = found
    sums = np.arange((offset - 128) * count, (offset + 127) * count + 1)
    shifted = sums << shift
    assert shifted.min() >= -(2**24)
    assert shifted.max() < 2**24
    got = requantize(sums, multiplier, shift, 0, -128, 255)
    step = max(len(sums) // 20_000, 1)
    ends = np.r_[0 : len(sums) : step, len(sums) - 1]
    assert np.array_equal(got[ends], divided(sums[ends], count))
    halves = np.abs(2 * sums) % (2 * count) == count
    assert np.array_equal(got[halves], divided(sums[halves], count))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9, 16, 49, 100])
def test_division_of_sums_of_int16(count: int) -> None:
    weight, found = next(
        (weight, found)
        for weight in WEIGHTS
        if (found := bounds.exact_division(count, 0, weight, 16)) is not None
    )
    low, high = -(2**15) * count, (2**15 - 1) * count
    sums = np.arange(low, high + 1, max(count // 9, 1), dtype=np.int64)
    got = requantize(weight * sums, *found, 0, -(2**15), 2**15 - 1)
    expected = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("count", [4225, 3969, 90_000, 65_025])
@pytest.mark.parametrize("offset", [0, 128])
def test_divisions_that_round_twice(count: int, offset: int) -> None:
    """Of long windows, some of them of numbers that count several times."""
    weight, found = next(
        (weight, found)
        for weight in WEIGHTS
        if (found := bounds.exact_division(count, offset, weight)) is not None
    )
    multiplier, shift = found
    assert shift < 0
    low, high = (offset - 128) * count, (offset + 127) * count
    sums = np.arange(low, high + 1, max((high - low) // 2_000_003, 1), dtype=np.int64)
    got = requantize(weight * sums, multiplier, shift, 0, -256, 255)
    assert np.array_equal(got, divided(sums, count))


@pytest.mark.parametrize("seed", range(4))
def test_range_of_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    zero_point = int(rng.integers(-128, 128))
    weights = rng.integers(-128, 128, (3, 2), np.int8)
    bias = rng.integers(-1000, 1000, 3, np.int32)
    x = np.arange(-128, 128) - zero_point
    pairs = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    sums = pairs @ weights.T.astype(np.int64) + bias
    low, high = bounds.sum_range(weights, bias, zero_point)
    assert np.array_equal(low, sums.min(axis=0))
    assert np.array_equal(high, sums.max(axis=0))
    assert bounds.largest_sum(weights, zero_point) >= np.abs(sums - bias).max()


@pytest.mark.parametrize(
    ("low", "high", "shift", "expected"),
    [
        (-(2**24), 2**24 - 1, 0, True),
        (-(2**24) - 1, 0, 0, False),
        (0, 2**24, -5, False),
        (-(2**20), 2**20 - 1, 4, True),
        (0, 2**20, 4, False),
    ],
)
def test_narrow(low: int, high: int, shift: int, expected: bool) -> None:
    sums = (np.array([0, low]), np.array([0, high]))
    assert bounds.is_narrow(sums, np.array([0, shift], np.int32)) is expected


@pytest.mark.parametrize("seed", range(30))
def test_constant_channels(seed: int) -> None:
    """Compare with all inputs of one tap, scales near and far from one output."""
    rng = np.random.default_rng(seed)
    channels = 40
    weights = rng.integers(-128, 128, (channels, 1), np.int8)
    weights[rng.random(channels) < 0.3] = 0
    bias = rng.integers(-(2**31), 2**31, channels, np.int64) >> rng.integers(0, 31, channels)
    values = Parameters(
        bias.astype(np.int32),
        rng.integers(0, 2**31, channels, np.int32),
        rng.integers(-31, 31, channels, np.int32),
    )
    zero_points = rng.integers(-128, 128, 2).tolist()
    clamp = tuple(sorted(rng.integers(-128, 128, 2).tolist()))

    def outputs(weights: np.ndarray, values: Parameters) -> np.ndarray:
        x = np.arange(-128, 128)[:, None] - zero_points[0]
        sums = wrap_int32(x * weights.T.astype(np.int64) + values.bias)
        return requantize(sums, values.multiplier, values.shift, zero_points[1], *clamp)

    expected = outputs(weights, values)
    is_constant, numbers = bounds.constant_outputs(weights, values, *zero_points, clamp)
    changes = (expected != expected[0]).any(axis=0)
    assert not (is_constant & changes).any()
    assert np.array_equal(expected[0][is_constant], numbers[is_constant])
    assert is_constant[weights[:, 0] == 0].all()

    folded, same = bounds.fold_constant_channels(weights, values, *zero_points, clamp)
    assert np.array_equal(outputs(folded, same), expected)
    assert not folded[is_constant].any()
    sums = bounds.sum_range(folded[is_constant], same.bias[is_constant], zero_points[0])
    assert bounds.is_narrow(sums, same.shift[is_constant])
