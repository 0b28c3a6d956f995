"""Tables of the converter: exact for every number, whatever the scale and the zero point."""

from fractions import Fraction

import numpy as np
import pytest

from kiwicha.contract.floats import FloatScale
from kiwicha.numerics.float_edges import dequantized, ordered_bits, thresholds
from kiwicha.program.float_tables import (
    DEQUANTIZE_TABLE_BYTES,
    QUANTIZE_TABLE_BYTES,
    converted_floats,
    converted_to_floats,
    quantize_table,
)
from tests.support.choices import by_day

ZERO_POINTS = (-128, -37, 0, 127)
SCALES = [2.0**e * m for e in (-126, -60, -8, 0, 30, 119) for m in (1.0, 1.2345, 1.9999)]
NUMBERS = 20_000


def numbers(scale: float, zero_point: int, seed: int) -> np.ndarray:
    """Return thresholds, their neighbours, and random bits: NaNs, infinities and small numbers."""
    ordered = thresholds(scale, zero_point)
    near = np.concatenate([ordered - 1, ordered, ordered + 1]).astype(np.int32)
    near ^= (near >> 31) & np.int32(0x7FFF_FFFF)
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 32, NUMBERS, dtype=np.uint32)
    return np.concatenate([near.view(np.uint32), bits, bits & np.uint32(0x807F_FFFF)])


@pytest.mark.parametrize("zero_point", ZERO_POINTS)
@pytest.mark.parametrize("scale", by_day(*SCALES))
def test_a_guess_and_a_comparison_are_exact(scale: float, zero_point: int) -> None:
    scale = float(np.float32(scale))
    table = quantize_table(scale, zero_point)
    assert table is not None
    assert len(table) == QUANTIZE_TABLE_BYTES
    bits = numbers(scale, zero_point, zero_point & 0xFF)
    ordered = ordered_bits(bits.view(np.float32))
    expected = np.searchsorted(thresholds(scale, zero_point), ordered, side="right") - 128
    assert np.array_equal(converted_floats(table, bits), expected)


@pytest.mark.parametrize("scale", [1e-45, 1e-39, 3e38])
def test_there_is_no_table_where_guesses_are_not_good_enough(scale: float) -> None:
    assert quantize_table(float(np.float32(scale)), 0) is None


@pytest.mark.parametrize("place", [0, 255, 256])
def test_another_table_gives_something_else(place: int) -> None:
    """What the converter does depends on thresholds and on the numbers of the guess."""
    table = quantize_table(0.1, -7)
    assert table is not None
    words = np.frombuffer(table, np.uint32).copy()
    words[place:] ^= 0x10
    bits = numbers(0.1, -7, 1)
    good, bad = converted_floats(table, bits), converted_floats(words.tobytes(), bits)
    assert not np.array_equal(good, bad)


@pytest.mark.parametrize("zero_point", ZERO_POINTS)
def test_every_byte_becomes_its_number(zero_point: int) -> None:
    every_byte = np.arange(256, dtype=np.uint8).view(np.int8)
    table = dequantized(every_byte, 0.0123, zero_point).tobytes()
    assert len(table) == DEQUANTIZE_TABLE_BYTES
    values = np.arange(-128, 128).astype(np.int8)
    expected = dequantized(values, 0.0123, zero_point)
    assert np.array_equal(converted_to_floats(table, values), expected.view(np.uint32))


@pytest.mark.parametrize(
    ("step", "zero_point", "octave"),
    [(8191, 0, 130), (4097, 128, 127), (777, 255, 3), (4000, 0, 130), (6000, 91, 254)],
)
def test_guesses_are_those_of_the_contract(step: int, zero_point: int, octave: int) -> None:
    """Words that no number is larger than leave the guess as it is."""
    words = np.full(256, 2**31 - 1, np.int32)
    table = words.tobytes() + 4 * FloatScale(step, zero_point, octave).pack()
    rng = np.random.default_rng(step)
    near = rng.integers(max(octave - 12, 1), min(octave + 3, 255), 400, np.uint32)
    bits = (
        rng.integers(0, 2, 400, np.uint32) << 31
        | near << 23
        | rng.integers(0, 2**23, 400, np.uint32)
    )
    for value, found in zip(bits, converted_floats(table, bits), strict=True):
        exponent, fraction = int(value) >> 23 & 255, Fraction(int(value) & 0x7F_FFFF, 1 << 23)
        index = min(int((1 + fraction) * Fraction(2) ** (9 + exponent - octave)), 1023)
        index = -1 - index if value >> 31 else index
        guess = Fraction(index * step, 1 << 14) + zero_point + Fraction(1, 4)
        assert int(found) + 128 == min(max(guess.__floor__(), 0), 255)
