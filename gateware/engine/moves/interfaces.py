"""What passes between the parts that move bytes."""

from amaranth.lib import data

from kiwicha.contract.moves import TILE_ROWS
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, BYTE_BITS, LINE_BITS

__all__ = ["MOVE_READ", "MOVE_WRITE", "ROW_BITS", "SLOT_BITS", "TILE_SLOTS"]

TILE_SLOTS = 4
"""Tiles that are read ahead of the one that is written, with that one."""
SLOT_BITS = (TILE_SLOTS - 1).bit_length()
ROW_BITS = (TILE_ROWS - 1).bit_length()
"""Number of a row or a column of a tile."""

MOVE_READ = data.StructLayout({"address": ADDRESS_BITS, "slot": SLOT_BITS, "row": ROW_BITS})
"""A read of 16 bytes. Of a tile: for row ``row`` of the tile in ``slot``, the bytes of which begin
``row`` bytes behind ``address``."""
MOVE_WRITE = data.StructLayout({
    "line": LINE_BITS,
    "low": BYTE_BITS,
    "high": BYTE_BITS,
    "slot": SLOT_BITS,
    "column": ROW_BITS,
    "place": ROW_BITS,
})
"""A write of bytes ``low`` to ``high`` of a line. Of a tile: column ``column`` of that in ``slot``,
whose row 0 goes to a byte that is ``place`` modulo 4."""
