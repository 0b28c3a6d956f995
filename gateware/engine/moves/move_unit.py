"""MOVE jobs: from the descriptor to reads and masked writes of the scratchpad."""

from amaranth import Cat, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import SCRATCHPAD_READ_CYCLES
from kiwicha.contract.moves import TILE_ROWS, MoveFlag
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB, LINE_BITS, MOVE
from kiwicha.gateware.engine.moves.address_generator import MoveAddressGenerator
from kiwicha.gateware.engine.moves.tile_buffer import TileBuffer

__all__ = ["LINE_WRITE", "MoveUnit"]

LINE_WRITE = data.StructLayout({
    "line": LINE_BITS,
    "mask": LINE_BYTES,
    "is_column": 1,
    "column": 8 * TILE_ROWS,
})
"""A write of the bytes in ``mask`` of a line of the scratchpad: what was read, or of a column of a
tile byte ``k % 4`` to byte k of the line."""


class MoveUnit(wiring.Component):
    """Move bytes from place to place in the scratchpad.

    Throughput: see `EngineMove`. Latency: 2 cycles from ``start`` to the first read, and
    `SCRATCHPAD_READ_CYCLES` from a read to its write; ``done`` comes as long before the last write.

    Members
    -------
    job : ``In(JOB)``
        An `EngineMove`, stable from ``start`` until the last write.
    start : ``In(1)``
        Begin; only while not ``is_busy``.
    is_busy : ``Out(1)``
        From the cycle after ``start`` to the one before ``done``.
    is_working : ``Out(1)``
        Something is read or written.
    done : ``Out(1)``
        The last write comes in `SCRATCHPAD_READ_CYCLES` cycles.
    address : ``Out(ADDRESS_BITS)``
        What is read; unspecified while there is no job.
    read_data : ``In(128)``
        What was there `SCRATCHPAD_READ_CYCLES` ago.
    writes : ``Out(stream.Signature(LINE_WRITE, always_ready=True))``
        Writes, with what was read in the same cycle.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "is_working": Out(1),
            "done": Out(1),
            "address": Out(ADDRESS_BITS),
            "read_data": In(8 * LINE_BYTES),
            "writes": Out(stream.Signature(LINE_WRITE, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build what follows the addresses: the delay of the scratchpad, tiles and masks."""
        m = Module()
        m.submodules.addresses = addresses = MoveAddressGenerator()
        m.submodules.tiles = tiles = TileBuffer()
        flags = data.View(MOVE, self.job.as_value()).flags
        is_tile = (flags & MoveFlag.TILE).any()
        read, write = addresses.reads, addresses.writes
        # Registers with a reset: there are enough of them, and LUTs that shift are none.
        late_read = delayed(
            m,
            Cat(read.payload.slot, read.payload.row, read.valid & is_tile),
            SCRATCHPAD_READ_CYCLES,
            "read",
            is_reset=True,
        )
        early = delayed(m, write.payload, SCRATCHPAD_READ_CYCLES - 1, "write", is_reset=True)
        late_valid = delayed(m, write.valid, SCRATCHPAD_READ_CYCLES, "valid", is_reset=True)
        line, low, high = (
            delayed(m, early[name], 1, name, is_reset=True) for name in ("line", "low", "high")
        )
        m.d.comb += [
            addresses.job.eq(self.job),
            addresses.start.eq(self.start),
            self.is_busy.eq(addresses.is_busy),
            self.is_working.eq(read.valid | write.valid),
            self.done.eq(addresses.done),
            self.address.eq(read.payload.address),
            Cat(tiles.write_slot, tiles.write_row, tiles.writes).eq(late_read),
            tiles.row.eq(self.read_data),
            tiles.read_slot.eq(early.slot),
            tiles.read_column.eq(early.column),
            tiles.place.eq(early.place),
            self.writes.valid.eq(late_valid),
            self.writes.payload.line.eq(line),
            self.writes.payload.mask.eq(
                Cat((low <= byte) & (high >= byte) for byte in range(LINE_BYTES))
            ),
            self.writes.payload.is_column.eq(is_tile),
            self.writes.payload.column.eq(tiles.column),
        ]
        return m
