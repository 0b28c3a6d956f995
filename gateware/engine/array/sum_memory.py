"""Sums that one job leaves for the next one."""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import MAX_KEPT_SUMS, OUTPUT_BYTES

__all__ = ["SumMemory"]


class SumMemory(wiring.Component):
    """`MAX_KEPT_SUMS` int32, a beat of ``lanes`` of them side by side, in the order of beats.

    With more lanes than `OUTPUT_BYTES` there are as many beats as with so many: where channels are
    no multiple of the lanes, beats have places to spare.

    Latency: 1 cycle from ``valid`` to the ``sums`` of that beat. What comes of it is written with
    ``totals``, 2 cycles after ``valid``. Throughput: a beat per cycle.

    Parameters
    ----------
    lanes : int
        Sums of a beat: a divisor of `MAX_KEPT_SUMS`, less than that.

    Members
    -------
    restart : ``In(1)``
        The next beat is the first one; 2 cycles before its ``valid`` or earlier, and 3 after that
        of the last beat or later.
    valid : ``In(1)``
        There is a beat.
    sums : ``Out(ArrayLayout(signed(32), lanes))``
        What the memory holds for the beat.
    keeps : ``In(1)``
        Write; stable from the first beat until the last one is written.
    totals : ``In(ArrayLayout(signed(32), lanes))``
        What to hold for the beat from now on.

    Raises
    ------
    ValueError
        If ``lanes`` is not such a number.
    """

    def __init__(self, *, lanes: int) -> None:
        is_valid = isinstance(lanes, int) and 1 <= lanes < MAX_KEPT_SUMS
        if not is_valid or MAX_KEPT_SUMS % lanes:
            raise ValueError(f"lanes must be a divisor of {MAX_KEPT_SUMS}, not {lanes!r}")
        self.lanes = lanes
        self.depth = MAX_KEPT_SUMS // min(lanes, OUTPUT_BYTES)
        beat = data.ArrayLayout(signed(32), lanes)
        super().__init__({
            "restart": In(1),
            "valid": In(1),
            "sums": Out(beat),
            "keeps": In(1),
            "totals": In(beat),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a memory that is read ahead, and the count of beats."""
        m = Module()
        m.submodules.memory = memory = Memory(shape=32 * self.lanes, depth=self.depth, init=[])
        read, write = memory.read_port(), memory.write_port()
        number = Signal(range(self.depth))
        following = Signal.like(number)
        number_s1 = Signal.like(number)
        number_s2 = Signal.like(number)
        valid = Signal(2)
        # A register behind the memory: an adder follows.
        sums = Signal(32 * self.lanes, reset_less=True)
        m.d.comb += [
            following.eq(Mux(self.restart, 0, number + self.valid)),
            read.addr.eq(following),
            write.addr.eq(number_s2),
            write.data.eq(self.totals),
            write.en.eq(valid[-1] & self.keeps),
            Value.cast(self.sums).eq(sums),
        ]
        m.d.sync += [
            number.eq(following),
            number_s1.eq(number),
            number_s2.eq(number_s1),
            valid.eq(Cat(self.valid, valid)),
            sums.eq(read.data),
        ]
        return m
