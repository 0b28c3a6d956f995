"""Tables of the converter between float32 and int8, and what it makes of numbers with them.

A QUANTIZE guesses an output from the leading bits of a number, so that at most one threshold lies
between the guess and the output; one comparison with that threshold makes it exact.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.floats import (
    FLOAT_GUESS,
    FLOAT_INDEX_BITS,
    FLOAT_STEP_BITS,
    FLOAT_TABLE_WORDS,
    FloatScale,
)
from kiwicha.numerics.float_edges import ordered_bits, thresholds

__all__ = [
    "DEQUANTIZE_TABLE_BYTES",
    "QUANTIZE_TABLE_BYTES",
    "converted_floats",
    "converted_to_floats",
    "quantize_table",
]

DEQUANTIZE_TABLE_BYTES = 4 * FLOAT_TABLE_WORDS
QUANTIZE_TABLE_BYTES = DEQUANTIZE_TABLE_BYTES + LINE_BYTES

_FRACTION_BITS = 23
_EXPONENTS = 256
_GUARD = np.int32(0x7FFF_FFFF)
"""Not less than any number: behind the last threshold."""
_SHORT_BITS = 8 + FLOAT_INDEX_BITS
"""Sign, exponent and those bits of the fraction that a guess depends on."""


def quantize_table(scale: float, zero_point: int) -> bytes | None:
    """Return the table of a QUANTIZE, None if a guess from leading bits is not good enough.

    That is so only for scales below 2**-126, where numbers have fewer bits, and for some above
    2**119, where infinity reaches several thresholds at once.

    Parameters
    ----------
    scale : float
        A float32, more than 0.
    zero_point : int
        -128 to 127.
    """
    reached = thresholds(scale, zero_point)
    words = np.append(reached - np.int32(1), _GUARD).astype(np.int32)
    numbers = (reached ^ ((reached >> 31) & _GUARD)).view(np.float32)
    finite = np.abs(numbers[np.isfinite(numbers)])
    octave = int(finite.max(initial=0).view(np.uint32)) >> _FRACTION_BITS
    # As exact numbers: neither the octave nor the quotient need be a float32.
    width = 2.0 ** (octave - _EXPONENTS // 2 + 1 - (FLOAT_INDEX_BITS - 1)) / float(scale)
    step = round(width * (1 << FLOAT_STEP_BITS))
    if step >= 1 << (FLOAT_STEP_BITS - 1):
        return None
    head = FloatScale(step=step, zero_point=zero_point + 128, octave=octave).pack()
    table = words.tobytes() + head * (LINE_BYTES // len(head))
    return table if _is_exact(table, reached) else None


def _is_exact(table: bytes, reached: NDArray[np.int32]) -> bool:
    """Whether the first and the last number of each guess get the outputs that they should.

    What lies between them does, too, as outputs grow with numbers.
    """
    short = np.arange(1 << _SHORT_BITS, dtype=np.uint32) << np.uint32(32 - _SHORT_BITS)
    ends = np.concatenate([short, short | np.uint32((1 << (32 - _SHORT_BITS)) - 1)])
    guesses = _guesses(table, ends)
    counts = np.searchsorted(reached, ordered_bits(ends.view(np.float32)), side="right")
    return bool(((counts == guesses) | (counts == guesses + 1)).all())


def _guesses(table: bytes, bits: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the guess of each number, as `FloatScale` says."""
    scale = FloatScale.unpack(table[-LINE_BYTES:])
    wide = bits.astype(np.int64)
    exponents = wide >> _FRACTION_BITS & (_EXPONENTS - 1)
    kept = FLOAT_INDEX_BITS - 1
    # Numbers below the smallest octave count as if they had its leading 1.
    leading = (1 << kept) | (wide >> (_FRACTION_BITS - kept) & ((1 << kept) - 1))
    distances = scale.octave - exponents
    shifted = leading >> distances.clip(0, FLOAT_INDEX_BITS)
    magnitudes = np.where(distances < 0, (1 << FLOAT_INDEX_BITS) - 1, shifted)
    indices = np.where(wide >> 31 != 0, -1 - magnitudes, magnitudes)
    start = (scale.zero_point << FLOAT_STEP_BITS) + int(FLOAT_GUESS * (1 << FLOAT_STEP_BITS))
    guesses: NDArray[np.int64] = (indices * scale.step + start) >> FLOAT_STEP_BITS
    return guesses.clip(0, FLOAT_TABLE_WORDS - 1)


def converted_floats(table: bytes, bits: NDArray[np.uint32]) -> NDArray[np.int8]:
    """Return what the converter makes of numbers.

    Parameters
    ----------
    table : bytes
        Of a QUANTIZE.
    bits : ndarray of uint32
        The numbers.
    """
    words = np.frombuffer(table, np.int32)[:FLOAT_TABLE_WORDS]
    guesses = _guesses(table, bits)
    is_more = ordered_bits(bits.view(np.float32)) > words[guesses]
    # A byte has no more bits: a table that is none could lead further.
    return (guesses + is_more - 128).astype(np.uint8).view(np.int8)


def converted_to_floats(table: bytes, values: NDArray[np.int8]) -> NDArray[np.uint32]:
    """Return the numbers that the converter makes of bytes.

    Parameters
    ----------
    table : bytes
        Of a DEQUANTIZE.
    values : ndarray of int8
        The bytes.
    """
    words = np.frombuffer(table, np.uint32)[:FLOAT_TABLE_WORDS]
    numbers: NDArray[np.uint32] = words[values.view(np.uint8)]
    return numbers
