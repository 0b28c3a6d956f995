"""Operators of int16 by their definition in whole numbers, number by number."""

from collections.abc import Callable

import numpy as np
import pytest

from kiwicha.contract.short_elements import ShortOperator
from kiwicha.numerics.short_activations import short_logistic, short_tanh
from kiwicha.numerics.short_elements import IDENTITY, ElementScales, short_elements

NUMBERS = np.array([-32768, -32767, -20000, -300, -3, -1, 0, 1, 2, 5, 299, 12345, 32767])
HALF, QUARTER = (1 << 30, 0), (1 << 30, -1)


def limited(number: int) -> int:
    return min(max(number, -32768), 32767)


def rounded(number: int, bits: int) -> int:
    """Divide by a power of two, halves away from zero."""
    magnitude = (2 * abs(number) + (1 << bits)) >> (bits + 1)
    return magnitude if number >= 0 else -magnitude


@pytest.mark.parametrize(
    ("operator", "sign"), [(ShortOperator.ADD, 1), (ShortOperator.SUB, -1)], ids=["ADD", "SUB"]
)
def test_operands_are_scaled_before_they_are_added(operator: ShortOperator, sign: int) -> None:
    """They are, by 1/2 and 1/4, and with 15 bits more until the sum is divided by 2**15."""
    scales = ElementScales(HALF, QUARTER, (1 << 30, -14))
    first, second = np.meshgrid(NUMBERS, NUMBERS)
    found = short_elements(operator, scales, first, second)
    for a, b, value in zip(first.flat, second.flat, found.flat, strict=True):
        total = (int(a) << 14) + sign * (int(b) << 13)
        assert value == limited(rounded(total, 15))


def test_products() -> None:
    scales = ElementScales(output=(1 << 30, -11))
    first, second = np.meshgrid(NUMBERS, NUMBERS)
    found = short_elements(ShortOperator.MUL, scales, first, second)
    for a, b, value in zip(first.flat, second.flat, found.flat, strict=True):
        # The product is halved, then divided by 2**11: each time it is rounded.
        assert value == limited(rounded((int(a) * int(b) + 1) >> 1, 11))


@pytest.mark.parametrize(
    ("clamp", "limits"), [((-128, 127), (-32768, 32767)), ((-2, 1), (-512, 511))]
)
def test_maxima_are_those_of_windows(clamp: tuple[int, int], limits: tuple[int, int]) -> None:
    """Limits are those of upper bytes: a number's lower byte may be any."""
    windows = np.random.default_rng(5).integers(-1000, 1000, (7, 3, 4))
    found = short_elements(ShortOperator.MAX, ElementScales(clamp=clamp), windows)
    assert np.array_equal(found, windows.max(axis=2).clip(*limits))
    assert not np.array_equal(found, windows.min(axis=2).clip(*limits))


def test_negative_numbers_leak() -> None:
    scales = ElementScales(second=(1 << 30, -2), output=IDENTITY, clamp=(-3, 127))
    found = short_elements(ShortOperator.LEAKY_RELU, scales, NUMBERS)
    expected = [n if n >= 0 else max(rounded((n + 1) >> 1, 2), -768) for n in map(int, NUMBERS)]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("operator", "function"),
    [(ShortOperator.TANH, short_tanh), (ShortOperator.LOGISTIC, short_logistic)],
)
def test_functions_take_scaled_arguments(
    operator: ShortOperator, function: Callable[..., np.ndarray]
) -> None:
    """They are divided by 2**16, halves towards the larger number."""
    multiplier = 3 << 13
    found = short_elements(operator, ElementScales(first=(multiplier, 0)), NUMBERS)
    arguments = [(int(n) * multiplier + 2**15) // 2**16 for n in NUMBERS]
    assert 0 < sum(n * multiplier % 2**16 == 2**15 for n in map(int, NUMBERS))
    assert found.tolist() == function(np.array(arguments)).tolist()
    assert len(set(found.tolist())) > 5
    halves = ElementScales(first=(multiplier, 0), output=HALF)
    expected = [rounded(value, 1) if value > 0 else -(-value >> 1) for value in found.tolist()]
    assert short_elements(operator, halves, NUMBERS).tolist() == expected
