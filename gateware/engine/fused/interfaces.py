"""What passes between the weight buffer, the adder behind convolutions and the scratchpad."""

from amaranth.lib import data

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.engine import LINE_BYTES, TABLE_ENTRIES
from kiwicha.contract.moves import TILE_ROWS
from kiwicha.gateware.engine.descriptors import LINE_BITS

__all__ = ["SUM_ACCESS", "TABLE_WRITE"]

TABLE_WRITE = data.StructLayout({
    "is_first": 1,
    "is_second": 1,
    "index": range(TABLE_ENTRIES),
    "data": 8 * BEAT_BYTES,
})
"""Entries of a table that is filled: int32 of the first tensor's bytes, and of the second one's.

With 16 outputs ``data`` has both of two entries, of which ``index`` is half the first one's number.
With 8 it has both of one. With 4 it has one int32 of one.
"""
SUM_ACCESS = data.StructLayout({
    "is_write": 1,
    "line": LINE_BITS,
    "mask": LINE_BYTES,
    "column": 8 * TILE_ROWS,
})
"""A read of a line of the scratchpad, or a write of the bytes in ``mask``: byte ``k % 4`` of
``column`` to byte k of the line."""
