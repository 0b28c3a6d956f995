"""Tables of the converter: exact for every number, whatever the scale and the zero point."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("scale", [1e-39, 3e38])
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
