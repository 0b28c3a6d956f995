"""Float32 at a model's edges: staircases against divisions, tables against products."""

import math
from fractions import Fraction

import numpy as np
import pytest

from kiwicha.numerics import float_edges as floats

EDGES = [
    *((0.5, 0), (float(np.float32(0.1)), -128), (float(np.float32(1e-30)), 127), (1e36, 5)),
    # Some outputs only of infinity.
    (float(np.float32(3e38)), 0),
]


def test_order_of_bits() -> None:
    numbers = np.array(
        [-np.inf, -3e38, -1.5, -1e-45, -0.0, 0.0, 1e-45, 1.5, 3e38, np.inf], np.float32
    )
    assert (np.diff(floats.ordered_bits(numbers).astype(np.int64)) > 0).all()
    nan = np.array([np.nan, -np.nan], np.float32)
    positive, negative = floats.ordered_bits(np.abs(nan[:1])), floats.ordered_bits(-np.abs(nan[:1]))
    assert positive > floats.ordered_bits(np.inf)
    assert negative < floats.ordered_bits(-np.inf)


def test_bits_of_infinity() -> None:
    assert floats.ordered_bits(np.inf) == floats._INFINITY


def test_half_away_from_zero() -> None:
    x = np.array([-1.25, -0.75, -0.25, -0.2, 0.2, 0.25, 0.75, 1.25], np.float32)
    assert floats.quantized(x, 0.5, 10).tolist() == [7, 8, 9, 10, 10, 11, 12, 13]
    # Just below a half: adding 0.5 in float32 would give 1.
    below = np.nextafter(np.float32(0.5), np.float32(0))
    assert floats.quantized(below, 1.0, 0) == 0


@pytest.mark.parametrize(("scale", "zero_point"), EDGES)
def test_thresholds_are_the_first_that_reach_an_output(scale: float, zero_point: int) -> None:
    found = floats.thresholds(scale, zero_point).astype(np.int64)
    assert (np.diff(found) >= 0).all()
    outputs = np.arange(-127, 128)
    at = (found.astype(np.int32) ^ ((found.astype(np.int32) >> 31) & 0x7FFF_FFFF)).view(np.float32)
    with np.errstate(over="ignore"):
        below = np.nextafter(at, np.float32(-np.inf))
    assert (floats.quantized(at, scale, zero_point) >= outputs).all()
    is_positive_zero = at == 0
    assert (floats.quantized(below, scale, zero_point) < outputs)[~is_positive_zero].all()


@pytest.mark.parametrize(("scale", "zero_point"), EDGES)
def test_counting_thresholds_is_quantizing(scale: float, zero_point: int) -> None:
    rng = np.random.default_rng(0)
    factors = np.concatenate([rng.uniform(-300, 300, 2000), np.arange(-300, 300) / 2])
    with np.errstate(over="ignore"):
        x = (factors * scale).astype(np.float32)
    bits = floats.ordered_bits(x)
    counts = np.searchsorted(floats.thresholds(scale, zero_point), bits, side="right") - 128
    np.testing.assert_array_equal(counts, floats.quantized(x, scale, zero_point))


def test_dequantized_is_the_rounded_product() -> None:
    scale, zero_point = float(np.float32(0.1)), -3
    values = np.arange(-128, 128)
    for value, result in zip(values, floats.dequantized(values, scale, zero_point), strict=True):
        exact = Fraction(scale) * int(value - zero_point)
        neighbours = [np.nextafter(result, np.float32(end)) for end in (-np.inf, np.inf)]
        errors = [abs(Fraction(float(x)) - exact) for x in (result, *neighbours)]
        assert errors[0] == min(errors)


SCALES = [(0.5, 3), (0.25, -128), (0.1, 127), (1e36, 5), (1e-30, 0), (0.37, -40)]


@pytest.mark.parametrize("target", SCALES)
@pytest.mark.parametrize("source", SCALES)
def test_inputs_are_rescaled_byte_by_byte(
    source: tuple[float, int], target: tuple[float, int]
) -> None:
    """In float32, operation by operation, of values as unsigned bytes."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scale = np.float32(source[0]) * (np.float32(1) / np.float32(target[0]))
        bias = np.float32(-(source[1] + 128)) * scale
        for byte, result in enumerate(floats.rescaled(source, target).tolist()):
            value = byte - 256 if byte > 127 else byte
            exact = float(np.float32(value + 128) * scale + bias)
            # Infinity less infinity counts as nothing.
            exact = 0.0 if math.isnan(exact) else exact
            if abs(exact) > 1e6:
                expected = 255 if exact > 0 else 0
            else:
                away = Fraction(exact) + Fraction(1 if exact > 0 else -1, 2)
                expected = min(max(int(away) + target[1] + 128, 0), 255)
            assert result == expected - 128, byte
    if source == target and 1e-3 < source[0] < 1e3:
        assert floats.rescaled(source, target).tolist() == [*range(128), *range(-128, 0)]
