"""Tiles that are read in rows and written in columns."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.moves import TILE_COLUMNS, TILE_ROWS
from kiwicha.gateware.engine.moves.interfaces import ROW_BITS, SLOT_BITS, TILE_SLOTS

__all__ = ["TileBuffer"]

_BANKS = TILE_ROWS


class TileBuffer(wiring.Component):
    """`TILE_SLOTS` tiles of `TILE_ROWS` x `TILE_COLUMNS` bytes.

    They lie in as many banks as a tile has rows or columns: byte c of row r in bank
    ``(r + c) % 4``. So the bytes of a row are in different banks, and those of a column too.

    Latency: a row can be read in the cycle after its write; a column comes 1 cycle after its
    number. Throughput: a row and a column per cycle.

    Members
    -------
    writes : ``In(1)``
        A row is here.
    write_slot, write_row : ``In(SLOT_BITS)``, ``In(ROW_BITS)``
        Where it goes.
    row : ``In(128)``
        Its byte c is byte ``write_row + c``.
    read_slot, read_column : ``In(SLOT_BITS)``, ``In(ROW_BITS)``
        The column that is wanted.
    place : ``In(ROW_BITS)``
        Which byte its row 0 is to be.
    column : ``Out(32)``
        Its byte of row r is byte ``(place + r) % 4``.
    """

    def __init__(self) -> None:
        super().__init__({
            "writes": In(1),
            "write_slot": In(SLOT_BITS),
            "write_row": In(ROW_BITS),
            "row": In(8 * LINE_BYTES),
            "read_slot": In(SLOT_BITS),
            "read_column": In(ROW_BITS),
            "place": In(ROW_BITS),
            "column": Out(8 * TILE_ROWS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the banks, and the rotation of what they give."""
        m = Module()
        octets = []
        for bank in range(_BANKS):
            m.submodules[f"bank_{bank}"] = memory = Memory(
                shape=8, depth=TILE_ROWS * TILE_SLOTS, init=[]
            )
            write, read = memory.write_port(), memory.read_port(domain="comb")
            here, behind = (self.row.word_select(bank + k, 8) for k in (0, TILE_COLUMNS))
            row = Signal(ROW_BITS, name=f"row_{bank}")
            m.d.comb += [
                write.addr.eq(Cat(self.write_row, self.write_slot)),
                write.data.eq(Mux(self.write_row > bank, behind, here)),
                write.en.eq(self.writes),
                row.eq(bank - self.read_column),
                read.addr.eq(Cat(row, self.read_slot)),
            ]
            octets.append(read.data)
        turn = Signal(ROW_BITS)
        m.d.comb += turn.eq(self.read_column - self.place)
        # Byte j comes from bank (j + turn) % 4.
        turned = [
            Mux(
                turn[1],
                Mux(turn[0], octets[(j + 3) % _BANKS], octets[(j + 2) % _BANKS]),
                Mux(turn[0], octets[(j + 1) % _BANKS], octets[j]),
            )
            for j in range(_BANKS)
        ]
        column = Signal(8 * TILE_ROWS, reset_less=True)
        m.d.sync += column.eq(Cat(*turned))
        m.d.comb += self.column.eq(column)
        return m
