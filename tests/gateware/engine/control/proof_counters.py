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
        # Of the memory: an end is written, another job may end, and it is read.
        is_written, job = Signal(name="is_written"), Signal(range(MAX_JOBS), name="written_job")
        is_there, job_s2 = Signal(name="is_there"), Signal(range(MAX_JOBS), name="written_job_s2")
        total, total_s2, end = (Signal(32, name=name) for name in ("total_s1", "total_s2", "end"))
        is_back = Signal(name="is_back")
        is_kept = dut.job_ends & (dut.job_number < MAX_JOBS)
        m.d.sync += [
            is_written.eq(is_kept),
            job.eq(dut.job_number),
            total.eq(dut.total),
            is_there.eq(is_written & ~(is_kept & (dut.job_number == job))),
            job_s2.eq(job),
            total_s2.eq(total),
            is_back.eq(is_there & (read.job == job_s2)),
            end.eq(total_s2),
        ]
        m.d.comb += [
            Assume(~(dut.job_ends & (dut.job_number[: len(read.job)] == read.job))),
            Assert(~is_back | (stored.data == end)),
        ]

    return rules
