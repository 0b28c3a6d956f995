"""What is proven of the components that read the engine's list."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume
from amaranth.lib import data

from kiwicha.contract.engine import (
    ELEMENT_KINDS,
    GROUP_WORDS,
    LINE_BYTES,
    MAX_SOFTMAX_DEPTH,
    OUTPUT_BYTES,
    EngineError,
    JobKind,
    job_kinds,
)
from kiwicha.gateware.engine.control.command_unit import CommandUnit
from kiwicha.gateware.engine.control.job_check import JOB_WORDS, JobCheck
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.sequencer import Sequencer
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from kiwicha.gateware.engine.descriptors import JOB
from tests.support.gateware.proof import Rules, assume_stream, check_stream

__all__ = ["command_unit", "job_check", "job_fetcher", "sequencer", "transfer_fetcher"]

_NONE = EngineError.NONE


def _constant(m: Module, value: Any) -> None:
    """Assume that an input does not change."""
    earlier = Signal(len(value), name="constant")
    is_later = Signal()
    m.d.sync += [earlier.eq(value), is_later.eq(1)]
    m.d.comb += Assume(~is_later | (value == earlier))


def _is_sound(job: data.View, scratchpad_bytes: int, transfers: Any, *, has_softmax: bool) -> Value:
    """Return whether address generators, weight buffer and DMA can do what a job says."""
    # What an address generator of windows counts down to 1.
    counts = Cat(
        job[name] != 0 for name in ("output_rows", "output_columns", "kernel_rows", "segments")
    )
    has_segments = (job.segment_words != 0) & (job.row_words != 0)
    has_counts = counts.all() & (has_segments | (job.kind == JobKind.DEPTHWISE))
    is_element = Cat(job.kind == kind for kind in ELEMENT_KINDS).any()
    is_softmax = job.kind == JobKind.SOFTMAX
    has_rows = (job.output_rows != 0) & (job.segment_words <= MAX_SOFTMAX_DEPTH)
    # No field of a move but these can be out of range.
    is_computed = (
        (has_counts | is_element | (is_softmax & has_rows))
        & (is_softmax | (job.output_address % OUTPUT_BYTES == 0))
        & (job.group_words != 0)
        & (job.group_words <= GROUP_WORDS)
        & (job.weights_offset % LINE_BYTES == 0)
        & (job.weights_bytes % LINE_BYTES == 0)
        & (~(is_element | is_softmax) | (job.segment_words != 0))
        & (job.gives_positions <= (job.kind == JobKind.MAX))
        & (
            Cat(
                job.wait_rows,
                job.wait_group_step,
                job.wait_row_step,
                job.waits_in_pairs,
                job.reserved_1,
                job.resident_word,
            )
            == 0
        )
    )
    return (
        Cat(job.kind == kind for kind in job_kinds(has_softmax=has_softmax)).any()
        & (job.output_address < scratchpad_bytes)
        & (job.groups != 0)
        & (job.wait_transfers <= transfers)
        & (job.interval != 0)
        & ((job.kind == JobKind.MOVE) | is_computed)
    )


def job_check(dut: JobCheck) -> Rules:
    """State that one descriptor, in `JOB_WORDS` cycles or more, is sound or refused.

    Assumed: its words come in order; the list's number of transfers does not change.
    """

    def rules(m: Module, submodules: Any) -> None:
        words = Signal(JOB.size)
        number = Signal(range(JOB_WORDS + 1))
        earlier = Signal.like(dut.error)
        m.d.sync += earlier.eq(dut.error)
        with m.If(dut.takes):
            m.d.sync += number.eq(number + 1)
            m.d.sync += words.word_select(number, 8 * LINE_BYTES).eq(dut.word)
        _constant(m, dut.transfers)
        is_sound = _is_sound(
            data.View(JOB, words),
            dut.scratchpad_bytes,
            dut.transfers,
            has_softmax=dut.has_softmax,
        )
        m.d.comb += [
            Assume(~dut.takes | ((dut.index == number) & (number < JOB_WORDS))),
            Assert((number < JOB_WORDS) | (dut.error != _NONE) | is_sound),
            Assert((earlier == _NONE) | (dut.error == earlier)),
        ]

    return rules


def job_fetcher(dut: JobFetcher) -> Rules:
    """State that jobs that come out are sound; after an error nothing more comes out.

    Assumed: words stay until they are taken; the list's number of transfers does not change.
    """

    def rules(m: Module, submodules: Any) -> None:
        job, weights = dut.jobs.payload, dut.weights.payload
        has_error = dut.error != _NONE
        failed = Signal()
        m.d.sync += failed.eq(has_error)
        assume_stream(m, dut.beats, "beats")
        _constant(m, dut.transfers)
        is_sound = _is_sound(
            job,
            dut.check.scratchpad_bytes,
            dut.transfers,
            has_softmax=dut.has_softmax,
        )
        m.d.comb += [
            Assert(~dut.jobs.valid | is_sound),
            Assert(~dut.weights.valid | weights.is_move | (weights.group_words <= GROUP_WORDS)),
            Assert(~has_error | ~(dut.jobs.valid | dut.weights.valid | dut.beats.ready)),
            Assert(~failed | has_error),
        ]
        # A job that waits when a later one is found bad is not offered any more.
        offered = Signal()
        m.d.sync += offered.eq(dut.jobs.valid & ~dut.jobs.ready)
        m.d.comb += Assert(~offered | dut.jobs.valid | has_error)
        check_stream(m, dut.weights, "weights")

    return rules


def transfer_fetcher(dut: TransferFetcher) -> Rules:
    """State that transfers lie in the scratchpad; nothing comes out after an error.

    Assumed: words stay until they are taken; the list's number of jobs does not change.
    """

    def rules(m: Module, submodules: Any) -> None:
        step = dut.transfers.payload
        assume_stream(m, dut.beats, "beats")
        _constant(m, dut.jobs)
        lines = dut.scratchpad_bytes // LINE_BYTES
        # Four words of floats are a line of the scratchpad.
        used = Mux(step.is_float, (step.lines + 3) >> 2, step.lines)
        m.d.comb += [
            Assert(~dut.transfers.valid | (step.line + used <= lines)),
            Assert(~dut.transfers.valid | ~(step.is_float & step.is_table)),
            Assert(~dut.transfers.valid | ~(step.is_store & step.is_table)),
            Assert(~dut.transfers.valid | (step.lines != 0)),
            # At least a byte is its own.
            Assert(
                ~dut.transfers.valid
                | (step.lines > 1)
                | (step.last_bytes == 0)
                | (step.first_byte < step.last_bytes)
            ),
            Assert(~dut.transfers.valid | (step.wait_jobs <= dut.jobs)),
            Assert((dut.error == _NONE) | ~(dut.transfers.valid | dut.beats.ready)),
        ]
        check_stream(m, dut.transfers, "transfers")

    return rules


def sequencer(dut: Sequencer) -> Rules:
    """State that a list ends when it is complete and quiet, or by a halt that waits for DRAM.

    All others are reset in the halt only when DRAM owes nothing. After an error a list does not
    run on.
    """

    def rules(m: Module, submodules: Any) -> None:
        listed = dut.lists.list
        is_complete = (dut.jobs_done == listed.jobs) & (dut.transfers_done == listed.transfers)
        started, ran, was_over, halted, was_idle, cleared = (
            Signal(name=name)
            for name in ("started", "ran", "was_over", "halted", "was_idle", "cleared")
        )
        m.d.sync += [
            started.eq(1),
            ran.eq(dut.lists.is_running),
            was_over.eq(is_complete & dut.is_quiet),
            halted.eq(dut.halt),
            was_idle.eq(dut.memory_is_idle),
            cleared.eq(dut.clear),
        ]
        ends = started & ran & ~dut.lists.is_running
        is_waiting = started & halted & ~cleared
        m.d.comb += [
            Assert(~ends | was_over | halted),
            Assert(~ends | ~halted | cleared),
            Assert(~(is_waiting & dut.clear) | was_idle),
            Assert(~(is_waiting & ~was_idle) | dut.halt),
            Assert((dut.lists.status.error == _NONE) | ~dut.lists.is_running | dut.halt),
        ]

    return rules


def command_unit(dut: CommandUnit) -> Rules:
    """State that windows and the list change, and lists start, only while no list runs.

    Likewise accesses to the scratchpad. Assumed: a list runs only after its start.
    """

    def rules(m: Module, submodules: Any) -> None:
        lists = dut.sequencer
        earlier = Signal(len(Value.cast(lists.list)))
        ran, may_run = Signal(), Signal()
        m.d.sync += [
            earlier.eq(lists.list),
            ran.eq(lists.is_running),
            may_run.eq(lists.is_running | lists.start),
        ]
        m.d.comb += [
            Assume(~lists.is_running | may_run),
            Assert(~(dut.ranges.sets & lists.is_running)),
            Assert(~(lists.start & lists.is_running)),
            Assert(~ran | (Value.cast(lists.list) == earlier)),
            Assert(~dut.accesses.valid | ~lists.is_running),
        ]

    return rules
