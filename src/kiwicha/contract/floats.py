"""The converter between float32 and int8, on the way between DRAM and the scratchpad: its tables.

A table begins with `FLOAT_TABLE_WORDS` words. To dequantize: the float32 of each byte, taken as
unsigned. To quantize: for each output but the last, the largest number that gives no more, as an
int32 that compares as the numbers do; then the largest int32. To quantize there follow four more
words, all the same `FloatScale`.
"""

from dataclasses import dataclass

from kiwicha.contract.layout import Struct, u8, u16

__all__ = ["FloatScale"]

FLOAT_BYTES = 4
"""Bytes of a float32 number."""
FLOAT_TABLE_WORDS = 256
"""Words of a table that are looked up."""
FLOAT_INDEX_BITS = 10
"""Bits of a magnitude from which an output is guessed."""
FLOAT_STEP_BITS = 14
"""Bits of a guess behind the point."""
FLOAT_GUESS = 0.25
"""What is added to a guess. Half an output would round; but magnitudes were rounded down by up to
half an output, and an output that is guessed too small is put right."""


@dataclass(frozen=True)
class FloatScale(Struct):
    """From what an output is guessed before one comparison makes it exact.

    A number's magnitude is ``m * 2**e``, with 1 <= m < 2. Its index is ``m * 2**(9 + e - octave)``,
    rounded down, 1023 at most; that of a negative number is -1 less that. The guess is
    ``index * step / 2**FLOAT_STEP_BITS + zero_point + FLOAT_GUESS``, rounded down, 0 to 255. The
    output less -128 is the guess, or 1 more if the number is larger than that word of the table.
    """

    step: int = u16("outputs from one index to the next, times 2**FLOAT_STEP_BITS: 13 bits")
    zero_point: int = u8("that of the outputs, less -128")
    octave: int = u8("biased exponent of the largest number that matters")
