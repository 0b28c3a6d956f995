"""What a list cost: cycles by cause, and when each job ended."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import MAX_JOBS, EngineCounter
from kiwicha.gateware.engine.control.interfaces import CountersSignature

__all__ = ["Counters"]

_BITS = 32


class Counters(wiring.Component):
    """Counters of cycles, cleared with each list.

    Latency: 1 cycle from ``events`` to a count; 2 from ``read.index`` or ``read.job`` to
    ``read.count``.

    Members
    -------
    clear : ``In(1)``
        Begin with zeros.
    events : ``In(len(EngineCounter))``
        Bit k: `EngineCounter` k counts this cycle.
    job_ends : ``In(1)``
        Job ``job_number`` ends in this cycle.
    job_number : ``In(16)``
        Jobs that ended before. Ends of those from `MAX_JOBS` on are not kept.
    total : ``Out(32)``
        Cycles of the list so far.
    read : ``In(CountersSignature())``
        Reads.
    """

    LATENCY = 2

    def __init__(self) -> None:
        super().__init__({
            "clear": In(1),
            "events": In(len(EngineCounter)),
            "job_ends": In(1),
            "job_number": In(16),
            "total": Out(_BITS),
            "read": In(CountersSignature()),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the counters, the memory of ends and what is read."""
        m = Module()
        m.submodules.ends = ends = Memory(shape=_BITS, depth=MAX_JOBS, init=[])
        write, stored = ends.write_port(), ends.read_port()
        counts = [Signal(_BITS, name=counter.name.lower()) for counter in EngineCounter]
        counter_s1 = Signal(_BITS)
        reads_job_s1 = Signal()
        m.d.comb += [
            self.total.eq(counts[EngineCounter.TOTAL]),
            write.addr.eq(self.job_number),
            write.data.eq(self.total),
            write.en.eq(self.job_ends & (self.job_number < MAX_JOBS)),
            stored.addr.eq(self.read.job),
            stored.en.eq(1),
        ]
        m.d.sync += [counter_s1.eq(0), reads_job_s1.eq(self.read.reads_job)]
        with m.Switch(self.read.index):
            for counter in EngineCounter:
                with m.Case(counter):
                    m.d.sync += counter_s1.eq(counts[counter])
        with m.If(reads_job_s1):
            m.d.sync += self.read.count.eq(stored.data)
        with m.Else():
            m.d.sync += self.read.count.eq(counter_s1)
        for counter, count in zip(EngineCounter, counts, strict=True):
            with m.If(self.clear):
                m.d.sync += count.eq(0)
            with m.Elif(self.events[counter]):
                m.d.sync += count.eq(count + 1)
        return m
