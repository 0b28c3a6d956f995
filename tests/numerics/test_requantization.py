"""Integer arithmetic against definitions in Python's unbounded integers and fractions."""

import decimal
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kiwicha.numerics import requantization as numerics
from tests.support.oracle.scalar import (
    INT32_MAX,
    INT32_MIN,
    divide_by_pot,
    high_mul,
    multiply,
    reciprocal,
    wrap,
)

EXTREMES = [
    INT32_MIN,
    INT32_MIN + 1,
    -(2**30) - 1,
    -(2**30),
    -(2**30) + 1,
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    2**30 - 1,
    2**30,
    2**30 + 1,
    INT32_MAX - 1,
    INT32_MAX,
]
INT32 = st.integers(INT32_MIN, INT32_MAX) | st.sampled_from(EXTREMES)
MULTIPLIER = st.integers(0, INT32_MAX) | st.sampled_from([0, 1, 2**30, 2**31 - 1])


def samples(seed: int, count: int = 2000) -> list[int]:
    """Give int32 of every magnitude."""
    rng = random.Random(seed)
    return [wrap(rng.getrandbits(rng.randint(1, 32)) * rng.choice([1, -1])) for _ in range(count)]


def test_limits_of_int32() -> None:
    assert (numerics.INT32_MIN, numerics.INT32_MAX) == (INT32_MIN, INT32_MAX)


@given(st.integers(-(2**62), 2**62))
def test_wrap_int32_keeps_the_low_32_bits(x: int) -> None:
    assert numerics.wrap_int32(x) == wrap(x)


def test_high_mul_of_all_pairs_of_extremes() -> None:
    a, b = np.array(EXTREMES)[:, None], np.array(EXTREMES)
    expected = [[high_mul(x, y) for y in EXTREMES] for x in EXTREMES]
    assert numerics.saturating_rounding_doubling_high_mul(a, b).tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_high_mul_of_random_pairs(seed: int) -> None:
    a, b = samples(seed), samples(seed + 100)
    expected = [high_mul(x, y) for x, y in zip(a, b, strict=True)]
    assert numerics.saturating_rounding_doubling_high_mul(a, b).tolist() == expected


@pytest.mark.parametrize("exponent", range(32))
def test_divide_by_pot(exponent: int) -> None:
    half = (1 << exponent) >> 1
    near_ties = [k * half + d for k in (-3, -2, -1, 1, 2, 3) for d in (-1, 0, 1)]
    x = [wrap(value) for value in near_ties] + EXTREMES + samples(exponent, 200)
    expected = [divide_by_pot(value, exponent) for value in x]
    assert numerics.rounding_divide_by_pot(x, exponent).tolist() == expected


@pytest.mark.parametrize("shift", range(-31, 31))
def test_multiply_by_quantized_multiplier(shift: int) -> None:
    x = EXTREMES + samples(shift, 200)
    rng = random.Random(shift)
    multipliers = [rng.choice([0, 2**30, INT32_MAX, rng.randint(2**30, INT32_MAX)]) for _ in x]
    expected = [multiply(a, m, shift) for a, m in zip(x, multipliers, strict=True)]
    actual = numerics.multiply_by_quantized_multiplier(x, multipliers, shift)
    assert actual.tolist() == expected


@given(INT32, MULTIPLIER, st.integers(-31, 30))
def test_multiply_by_quantized_multiplier_of_any_value(x: int, multiplier: int, shift: int) -> None:
    actual = numerics.multiply_by_quantized_multiplier(x, multiplier, shift)
    assert actual == multiply(x, multiplier, shift)


@given(
    INT32,
    MULTIPLIER,
    st.integers(-31, 30),
    st.integers(-128, 127),
    st.tuples(st.integers(-128, 127), st.integers(-128, 127)).map(sorted),
)
@example(INT32_MAX, INT32_MAX, 0, 127, (-128, 127))
@example(INT32_MIN, INT32_MAX, 0, -128, (-128, 127))
def test_requantize(
    x: int, multiplier: int, shift: int, offset: int, clamp: tuple[int, int]
) -> None:
    low, high = clamp
    expected = max(low, min(high, wrap(multiply(x, multiplier, shift) + offset)))
    assert numerics.requantize(x, multiplier, shift, offset, low, high) == expected


@given(
    INT32,
    MULTIPLIER,
    st.integers(-31, 30),
    st.tuples(st.integers(-128, 127), st.integers(-128, 127)).map(sorted),
)
def test_requantize_to_shorts(x: int, multiplier: int, shift: int, clamp: tuple[int, int]) -> None:
    low, high = clamp
    expected = max(256 * low, min(256 * high + 255, multiply(x, multiplier, shift)))
    assert numerics.requantize_to_shorts(x, multiplier, shift, low, high) == expected


def test_requantize_has_one_scale_per_channel() -> None:
    sums = np.array([[1000, 1000, -1000], [7, 7, 7]])
    actual = numerics.requantize(sums, [2**30, 2**30, 2**30], [0, -1, -3], 1, -100, 100)
    # 2**30 stands for one half: 7 becomes 4, then 4, 2, and one half, which becomes 1.
    assert actual.tolist() == [[100, 100, -62], [5, 3, 2]]


@pytest.mark.parametrize(
    ("real", "expected"),
    [
        (0.0, (0, 0)),
        (1.0, (2**30, 1)),
        (0.5, (2**30, 0)),
        (0.75, (3 << 29, 0)),
        (math.nextafter(1.0, 0), (2**30, 1)),
        (1 - 2.0**-32, (2**30, 1)),
        (1 - 2.0**-31, (2**31 - 1, 0)),
        (2.0**-32, (2**30, -31)),
        (2.0**-32 * (1 - 2.0**-20), (0, 0)),
        (math.nextafter(2.0**-32, 0), (2**30, -31)),
        (1e-300, (0, 0)),
        (2.0**29, (2**30, 30)),
        (2.0**40, (2**30, 41)),
        # Halves of the last bit round away from zero.
        ((2**31 + 1) / 2**32, (2**30 + 1, 0)),
        ((2**31 + 3) / 2**32, (2**30 + 2, 0)),
    ],
)
def test_quantize_multiplier_at_its_edges(real: float, expected: tuple[int, int]) -> None:
    assert numerics.quantize_multiplier(real) == expected


@given(st.floats(2.0**-32, 2.0**30))
def test_quantize_multiplier_is_the_nearest(real: float) -> None:
    multiplier, shift = numerics.quantize_multiplier(real)
    assert 2**30 <= multiplier < 2**31
    error = abs(Fraction(real) - multiplier * Fraction(2) ** (shift - 31))
    assert error <= Fraction(2) ** (shift - 32)


@pytest.mark.parametrize("real", [-1.0, -1e-30, math.inf, -math.inf, math.nan])
def test_quantize_multiplier_refuses(real: float) -> None:
    with pytest.raises(ValueError, match=r"a scale ratio must be finite and not negative, not "):
        numerics.quantize_multiplier(real)


def fixed_exp(x: Fraction) -> int:
    """Give exp(x) in Q0.31, rounded to nearest."""
    with decimal.localcontext(prec=40):
        exponential = (decimal.Decimal(x.numerator) / x.denominator).exp()
        return int(exponential * 2**31 + decimal.Decimal("0.5"))


def scalar_exp(x: int) -> int:
    """Give exp(x / 2**26) in Q0.31 in the steps of the fixed-point library, in plain integers."""
    if x == 0:
        return INT32_MAX
    factors = [fixed_exp(-(Fraction(2) ** k)) for k in range(-2, 5)]
    eighth = fixed_exp(Fraction(-1, 8))
    quarter = 1 << 24
    modulo = x % quarter - quarter
    a = (modulo << 5) + (1 << 28)
    a2 = high_mul(a, a)
    a3, a4 = high_mul(a2, a), high_mul(a2, a2)
    third = high_mul(divide_by_pot(a4, 2) + a3, 715827883)
    result = eighth + high_mul(eighth, a + divide_by_pot(third + a2, 1))
    for k, factor in zip(range(-2, 5), factors, strict=True):
        if (modulo - x) >> (26 + k) & 1:
            result = high_mul(result, factor)
    return result


def test_exp_equals_the_scalar_definition() -> None:
    rng = random.Random(0)
    steps = [-k << s for k in (1, 2, 3, 5, 7, 31) for s in (0, 1, 22, 23, 24, 25, 26)]
    x = [value for value in steps if value >= INT32_MIN] + [0, -1, INT32_MIN, INT32_MIN + 1]
    x += [-rng.getrandbits(rng.randint(1, 31)) for _ in range(3000)]
    assert numerics.exp_on_negative_values(x).tolist() == [scalar_exp(value) for value in x]


def test_exp_is_the_exponential() -> None:
    x = -np.arange(0, 2**31, 99991)
    error = numerics.exp_on_negative_values(x) / 2.0**31 - np.exp(x / 2.0**26)
    # The series ends behind the fourth power: (1/8)**5 / 5! = 2.5e-7.
    assert np.abs(error).max() < 3e-7


@pytest.mark.parametrize("scale", [1e-7, 0.001, 0.02, 0.1, 0.25, 1.0, 15.5, 31.0, 100.0, 1e9])
@pytest.mark.parametrize("beta", [0.25, 1.0, 3.0])
def test_softmax_exponentials(scale: float, beta: float) -> None:
    table = numerics.softmax_exponentials(scale, beta)
    assert table[0] == INT32_MAX
    assert (np.diff(table) <= 0).all()
    d = np.arange(256)
    expected = np.exp(-beta * scale * d)
    # What stands for more than 31 is left out; the scaled difference has 26 fraction bits.
    assert (table[beta * scale * d > 31.001] == 0).all()
    kept = beta * scale * d < 30.999
    assert np.abs(table / 2.0**31 - expected)[kept].max() < 4e-7


@pytest.mark.parametrize(
    "scale", [1e-9, 1e-7, 0.003, 0.1, 0.25, 0.24, 1.0, 1.1, 15.5, 31, 31.9, 1e3]
)
@pytest.mark.parametrize("beta", [0.25, 1.0, 3.0])
def test_differences_are_kept_as_far_as_five_bits_reach(scale: float, beta: float) -> None:
    scaled, is_kept = numerics.scaled_differences(scale, beta)
    real = Fraction(min(beta * scale * 2**26, 2**31 - 1))
    shift = math.frexp(real)[1]
    multiplier = round(real / Fraction(2) ** shift * 2**31)
    # As if the multiplier were 1, which is more than it is.
    radius = math.floor(Fraction(31) * 2**26 / Fraction(2) ** shift)
    assert is_kept.tolist() == [d <= radius for d in range(256)]
    expected = [high_mul(-d << max(shift, 0), multiplier) if d <= radius else 0 for d in range(256)]
    assert scaled.tolist() == expected


def test_reciprocals_of_half_sums() -> None:
    """Of 1 and a number, odd ones included, whose half is rounded up."""
    rng = random.Random(1)
    a = [0, 1, 2, 3, INT32_MAX - 1, INT32_MAX, *(rng.getrandbits(31) for _ in range(300))]
    for value, found in zip(a, numerics.half_sum_reciprocal(a).tolist(), strict=True):
        d = (value + 2**31) // 2
        x = round(Fraction(48 * 2**29, 17)) + high_mul(d, -round(Fraction(32 * 2**29, 17)))
        for _ in range(3):
            x += 4 * high_mul(x, 2**29 - high_mul(d, x))
        assert found == x
        assert abs(found - 2**30 / (1 + value / 2**31)) < 16


@given(st.integers(2**19, 2**28 - 1) | st.sampled_from([2**k for k in range(19, 28)]))
def test_softmax_reciprocal(total: int) -> None:
    scale, bits_over_unit = numerics.softmax_reciprocal(total)
    assert (scale, bits_over_unit) == reciprocal(total)
    real = Fraction(total, 2**19)
    assert 2**bits_over_unit <= real < 2 ** (bits_over_unit + 1)
    error = Fraction(scale, 2**31) - 2**bits_over_unit / real
    assert abs(error) < Fraction(1, 2**28)
