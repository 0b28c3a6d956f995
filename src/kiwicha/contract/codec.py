"""The stored form of coded weight streams: numbers that encoder, decoder and hardware share.

`kiwicha.program.codec.streams` says what a stream looks like.
"""

from kiwicha.contract.engine import LINE_BYTES

__all__ = [
    "BEAT_BYTES",
    "CHECK_BITS",
    "CHECK_START",
    "CHUNK_BITS",
    "FIRST_OFFSETS",
    "LANES",
    "MAX_RANGE_BITS",
    "PREFIX_BITS",
    "TABLE_BEATS",
    "TABLE_ENTRIES",
    "WORD_ROTATION",
]

BEAT_BYTES = LINE_BYTES
"""Bytes of a beat, the unit of streams: a word of DRAM."""
LANES = 4
"""Bit streams that are decoded side by side, a byte of each in a step."""
CHUNK_BITS = 32
"""Bits in which the stream of a lane is cut."""
FIRST_OFFSETS = tuple(range(0, CHUNK_BITS, CHUNK_BITS // LANES))
"""Bits of each lane's first chunk that are not used: lanes do not all ask in the same step."""
PREFIX_BITS = 5
"""Bits of the longest prefix of a code."""
MAX_RANGE_BITS = 7
"""Bits of a value that follow the prefix, at most."""
TABLE_ENTRIES = 1 << PREFIX_BITS
"""Entries of the table of codes, 16 bits each."""
TABLE_BEATS = 2 * TABLE_ENTRIES // BEAT_BYTES
"""Beats of the table, at the start of a coded stream."""
CHECK_BITS = 32
CHECK_START = (1 << CHECK_BITS) - 1
"""The check sum before the first beat."""
WORD_ROTATION = 4
"""Word n of a beat is rotated left by 4 * n bits before it is added to the check sum."""
