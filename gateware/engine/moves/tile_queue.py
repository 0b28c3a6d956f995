"""Tiles between those that read their rows and those that write their columns."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.moves.interfaces import SLOT_BITS, TILE_SLOTS
from kiwicha.gateware.engine.moves.loops import LOOP_BITS

__all__ = ["AFTER_TILE", "TileQueue"]

AFTER_TILE = data.StructLayout({"loop": LOOP_BITS, "is_end": 1})
"""What comes after a tile: the loop that advances, or the end."""


class TileQueue(wiring.Component):
    """Slots of the tile buffer, with what comes after the tile in each.

    A tile is there 2 cycles after its last read, so that its bytes are in the buffer in time.

    Members
    -------
    reads_last : ``In(1)``
        The last row of a tile is read; only with ``has_room``.
    read_after : ``In(AFTER_TILE)``
        What comes after that tile.
    has_room : ``Out(1)``
        There is a slot for a tile.
    read_slot : ``Out(SLOT_BITS)``
        Its number.
    writes_last : ``In(1)``
        The last column of a tile is written; only with ``has_tile``.
    has_tile : ``Out(1)``
        There is a tile to write.
    write_slot : ``Out(SLOT_BITS)``
        Its slot.
    write_after : ``Out(AFTER_TILE)``
        What comes after it.
    """

    def __init__(self) -> None:
        super().__init__({
            "reads_last": In(1),
            "read_after": In(AFTER_TILE),
            "has_room": Out(1),
            "read_slot": Out(SLOT_BITS),
            "writes_last": In(1),
            "has_tile": Out(1),
            "write_slot": Out(SLOT_BITS),
            "write_after": Out(AFTER_TILE),
        })

    def elaborate(self, platform: object) -> Module:
        """Build both counts of tiles, and the memory between them."""
        m = Module()
        m.submodules.memory = memory = Memory(shape=AFTER_TILE, depth=TILE_SLOTS, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        begun, there, written = (
            Signal(SLOT_BITS + 1, name=name) for name in ("begun", "there", "written")
        )
        m.d.comb += [
            write.addr.eq(self.read_slot),
            write.data.eq(self.read_after),
            write.en.eq(self.reads_last),
            read.addr.eq(self.write_slot),
            self.write_after.eq(read.data),
            self.read_slot.eq(begun[:SLOT_BITS]),
            self.write_slot.eq(written[:SLOT_BITS]),
            self.has_room.eq(begun != Cat(written[:SLOT_BITS], ~written[SLOT_BITS])),
            self.has_tile.eq(there != written),
        ]
        m.d.sync += [
            there.eq(begun),
            begun.eq(begun + self.reads_last),
            written.eq(written + self.writes_last),
        ]
        return m
