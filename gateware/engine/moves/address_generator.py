"""Order of work in MOVE jobs: reads, and writes of lines."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.moves import TILE_LOOPS, MoveFlag
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB, MOVE
from kiwicha.gateware.engine.moves.interfaces import MOVE_READ, MOVE_WRITE, ROW_BITS
from kiwicha.gateware.engine.moves.loops import MoveLoops
from kiwicha.gateware.engine.moves.piece_lines import PieceLines
from kiwicha.gateware.engine.moves.tile_queue import TileQueue

__all__ = ["MoveAddressGenerator"]


class MoveAddressGenerator(wiring.Component):
    """The reads and writes of a MOVE job.

    Without TILE each write has its read, in the same cycle. With TILE rows are read ahead of the
    columns that are written, up to `TILE_SLOTS` tiles; the first write of a tile comes 2 cycles
    after its last read, or later.

    Latency: 2 cycles from ``start`` to the first read. Throughput: a write per cycle without a gap,
    with TILE beside a read per cycle.

    Members
    -------
    job : ``In(JOB)``
        An `EngineMove`, stable from ``start`` to ``done``.
    start : ``In(1)``
        Begin; only while not ``is_busy``.
    is_busy : ``Out(1)``
        From the cycle after ``start`` to the one before ``done``.
    reads : ``Out(stream.Signature(MOVE_READ, always_ready=True))``
        Reads.
    writes : ``Out(stream.Signature(MOVE_WRITE, always_ready=True))``
        Writes.
    done : ``Out(1)``
        High in the cycle of the last write.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "reads": Out(stream.Signature(MOVE_READ, always_ready=True)),
            "writes": Out(stream.Signature(MOVE_WRITE, always_ready=True)),
            "done": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect loops, addresses, lines and tiles."""
        m = Module()
        m.submodules.loops = loops = MoveLoops()
        m.submodules.lines = lines = PieceLines()
        m.submodules.tiles = tiles = TileQueue()
        move = data.View(MOVE, Value.cast(self.job))
        is_tile = (move.flags & MoveFlag.TILE).any()
        # Something is left to be read; with TILE writes come later.
        is_reading, reads_row, writes, ends_piece, ends = (
            Signal(name=name)
            for name in ("is_reading", "reads_row", "writes", "ends_piece", "ends")
        )
        row = Signal(ROW_BITS)
        is_last_row = row == move.last_byte[:ROW_BITS]
        ends_column = ends_piece & loops.is_last_inner
        m.d.comb += [
            reads_row.eq(is_tile & is_reading & tiles.has_room),
            writes.eq(Mux(is_tile, tiles.has_tile, is_reading)),
            ends_piece.eq(writes & lines.is_last),
            ends.eq(ends_column & Mux(is_tile, tiles.write_after.is_end, loops.is_last_outer)),
            loops.last_indices.eq(move.last_indices),
            loops.advances_inner.eq(ends_piece),
            loops.advances_outer.eq(
                is_reading
                & (
                    (is_tile & tiles.has_room & is_last_row)
                    | (~is_tile & lines.is_last & loops.is_last_inner)
                )
            ),
            tiles.reads_last.eq(reads_row & is_last_row),
            tiles.read_after.loop.eq(loops.outer),
            tiles.read_after.is_end.eq(loops.is_last_outer),
            tiles.writes_last.eq(is_tile & ends_column),
            lines.last_byte.eq(move.last_byte),
            lines.takes.eq(writes),
        ]
        with m.If(self.start):
            m.d.sync += [is_reading.eq(1), self.is_busy.eq(1)]
        with m.Else():
            with m.If(loops.advances_outer & loops.is_last_outer):
                m.d.sync += is_reading.eq(0)
            with m.If(ends):
                m.d.sync += self.is_busy.eq(0)
        with m.If(reads_row):
            m.d.sync += row.eq(Mux(is_last_row, 0, row + 1))

        # The rows of a tile are the innermost loop of its source, its columns that of its target.
        ends_source_inner = Mux(is_tile, is_last_row, loops.is_last_inner)
        source_loop = Mux(ends_source_inner, loops.outer, TILE_LOOPS)
        after = Mux(is_tile, tiles.write_after.loop, loops.outer)
        target_loop = Mux(loops.is_last_inner, after, TILE_LOOPS)
        source = self._address(m, "source", move, source_loop, Mux(is_tile, reads_row, ends_piece))
        target = self._address(m, "target", move, target_loop, ends_piece)
        stays = (move.flags & (MoveFlag.FILL | MoveFlag.TILE)).any()
        back = Mux(stays, Mux(is_tile, row, 0), lines.back)
        m.d.comb += lines.target.eq(target)
        m.d.sync += [
            self.reads.valid.eq(Mux(is_tile, reads_row, writes)),
            self.reads.payload.address.eq(source - back),
            self.reads.payload.slot.eq(tiles.read_slot),
            self.reads.payload.row.eq(row),
            self.writes.valid.eq(writes),
            self.writes.payload.line.eq(lines.line),
            self.writes.payload.low.eq(lines.low),
            self.writes.payload.high.eq(lines.high),
            self.writes.payload.slot.eq(tiles.write_slot),
            self.writes.payload.column.eq(loops.inner_index[:ROW_BITS]),
            self.writes.payload.place.eq(target[:ROW_BITS]),
            self.done.eq(ends),
        ]
        return m

    def _address(
        self, m: Module, name: str, move: data.View, loop: Value, advances: Value
    ) -> Signal:
        """Build an address that advances by the step of a loop."""
        address = Signal(ADDRESS_BITS, name=name)
        steps = [step[:ADDRESS_BITS] for step in move[f"{name}_steps"]]
        # Kept as it is: a LUT of six inputs chooses one of four bits.
        step = Signal(ADDRESS_BITS, name=f"{name}_step", attrs={"keep": 1})
        m.d.comb += step.eq(
            Mux(loop[1], Mux(loop[0], steps[3], steps[2]), Mux(loop[0], steps[1], steps[0]))
        )
        # It is 0 before the start, so the adder loads it too.
        with m.If(~self.is_busy & ~self.start):
            m.d.sync += address.eq(0)
        with m.Elif(self.start | advances):
            m.d.sync += address.eq(address + Mux(self.start, move[name][:ADDRESS_BITS], step))
        return address
