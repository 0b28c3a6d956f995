"""The stored form of coded weight streams: numbers that encoder, decoder and hardware share.

`kiwicha.program.codec.streams` and `kiwicha.program.codec.blocks` say what a stream looks like.
"""

from kiwicha.contract.engine import LINE_BYTES

__all__ = [
    "BEAT_BYTES",
    "BLOCK_BYTES",
    "BLOCK_HEADER_BITS",
    "BLOCK_LANES",
    "BLOCK_STEP_BYTES",
    "CHECK_BITS",
    "CHECK_START",
    "CHUNK_BITS",
    "FIRST_GROUPS",
    "FIRST_OFFSETS",
    "LANES",
    "MAX_RANGE_BITS",
    "MAX_WIDTH",
    "NIBBLE_BITS",
    "PREFIX_BITS",
    "QUADS",
    "TABLE_BEATS",
    "TABLE_ENTRIES",
    "WIDTH_BITS",
    "WIDTH_PAIRS",
    "WORD_ROTATION",
]

BEAT_BYTES = LINE_BYTES
"""Bytes of a beat, the unit of streams: a word of DRAM."""
FIRST_GROUPS = 2
"""Groups of a stream that have all parameters where `JobFlag.SHARED` leaves them out of others: one
for each bank of the weight buffer."""
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

# Streams in blocks.
BLOCK_LANES = 4
"""Bit streams of blocks that are decoded side by side, a block of each in a step."""
QUADS = 2
"""Quads of a block."""
NIBBLE_BITS = 4
"""Bytes of a quad; bits of a plane of it, and the unit of a stream of blocks."""
BLOCK_BYTES = QUADS * NIBBLE_BITS
"""Bytes that a block becomes."""
BLOCK_STEP_BYTES = BLOCK_LANES * BLOCK_BYTES
"""Bytes that a step gives."""
BLOCK_HEADER_BITS = 4
"""Bits that name a pair of widths: a nibble."""
WIDTH_PAIRS = 1 << BLOCK_HEADER_BITS
"""Pairs of widths in a table: a byte each, a beat together."""
MAX_WIDTH = 8
"""Planes of a quad, at most."""
WIDTH_BITS = 4
"""Bits of a width in the table."""
