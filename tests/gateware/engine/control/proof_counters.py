"""What is proven of the counters: each counts its events, and what is read is what was counted."""

from typing import Any

from amaranth import Array, Module, Mux, Signal
from amaranth.hdl import Assert, Assume

from kiwicha.contract.engine import MAX_JOBS, EngineCounter
from kiwicha.gateware.engine.control.counters import Counters
from tests.support.gateware.proof import Rules, signals_of

__all__ = ["counters"]


def counters(dut: Counters) -> Rules:
    """State what follows in one cycle: of counts, of what is read of them, of ends of jobs.

    Assumed: the end of a job is not read in the cycle that writes it.
    """
    own = signals_of(dut)

    def rules(m: Module, submodules: Any) -> None:
        has_begun = Signal(name="has_begun")
        m.d.sync += has_begun.eq(1)

        def becomes(value: Any, later: Any, name: str) -> None:
            """State what a value is, one cycle after it is known."""
            expected = Signal(len(value), name=f"expected_{name}")
            m.d.sync += expected.eq(later)
            m.d.comb += Assert(~has_begun | (value == expected))

        counts = [own[counter.name.lower()] for counter in EngineCounter]
        for counter, count in zip(EngineCounter, counts, strict=True):
            later = Mux(dut.clear, 0, count + dut.events[counter])
            becomes(count, later[:32], counter.name.lower())
        m.d.comb += Assert(dut.total == counts[EngineCounter.TOTAL])
        read = dut.read
        (stored,) = submodules.ends.read_ports
        becomes(own["counter_s1"], Array([*counts, *[0] * (16 - len(counts))])[read.index], "read")
        becomes(own["reads_job_s1"], read.reads_job, "reads_job")
        becomes(read.count, Mux(own["reads_job_s1"], stored.data, own["counter_s1"]), "count")
        # Of the memory: an end is written in one cycle, and read in the next one.
        is_written, job = Signal(name="is_written"), Signal(range(MAX_JOBS), name="written_job")
        total, end = Signal(32, name="written_total"), Signal(32, name="end")
        is_back = Signal(name="is_back")
        m.d.sync += [
            is_written.eq(dut.job_ends & (dut.job_number < MAX_JOBS)),
            job.eq(dut.job_number),
            total.eq(dut.total),
            is_back.eq(is_written & (read.job == job)),
            end.eq(total),
        ]
        m.d.comb += [
            Assume(~(dut.job_ends & (dut.job_number == read.job))),
            Assert(~is_back | (stored.data == end)),
        ]

    return rules
