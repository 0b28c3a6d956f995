"""Execution of a list: order of jobs, end, errors and watchdog."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import TRANSFER_ERROR, EngineError
from kiwicha.gateware.engine.control.interfaces import ERRORS, SequencerSignature
from kiwicha.gateware.engine.control.job_check import JOB_WORDS
from kiwicha.gateware.engine.control.pause import Pause
from kiwicha.gateware.engine.descriptors import JOB
from kiwicha.gateware.engine.memory.interfaces import OFFSET_BITS, RANGE_REQUEST

__all__ = ["Sequencer"]


class Sequencer(wiring.Component):
    """Start a list, start its jobs when their transfers are complete, and end it.

    A list ends when all its jobs and transfers are complete, or with an error, or by the watchdog.
    Then nothing more is asked of DRAM; what was asked for is waited for; then all others are reset
    for `CLEAR_CYCLES` and can be used again. A list that pauses ends likewise, between two jobs.
    Transfers under way are not complete then, and moved anew when the list goes on.

    Latency: 2 cycles from ``start`` to the first request. From an error to the end: what DRAM
    needs, and `CLEAR_CYCLES` + 2.

    Parameters
    ----------
    has_depthwise : bool
        There is a depthwise unit, which has jobs of its own.
    is_preemptible : bool
        Lists can pause; only without a depthwise unit.

    Members
    -------
    lists : ``In(SequencerSignature())``
        Starts a list.
    requests : ``Out(stream.Signature(RANGE_REQUEST))`` times 2
        The list's jobs; its transfers.
    jobs : ``In(stream.Signature(JOB))``
        Jobs in order; taken when complete.
    datapath_start : ``Out(1)``
        The job in ``jobs`` begins.
    datapath_done : ``In(1)``
        It is complete.
    unit_jobs, unit_start, unit_done
        Only with ``has_depthwise``: the same of the depthwise unit.
    unit_rows_done : ``In(16)``
        Likewise: rows that the unit has written.
    complete_jobs : ``In(16)``
        Likewise: jobs that are complete, and all before them.
    transfer_done : ``In(1)``
        A transfer is complete.
    jobs_done, transfers_done : ``Out(16)``
        How many are complete.
    waits_transfers : ``Out(1)``
        A job waits for a transfer.
    cycles : ``In(32)``
        Cycles since ``start``.
    errors : ``In(ERRORS)``
    fetched_jobs, loaded_jobs : ``In(16)``
        ``number`` of the `JobFetcher` and of the `WeightLoader`.
    is_quiet : ``In(1)``
        No weights are on their way, and DRAM owes nothing.
    memory_is_idle : ``In(1)``
        DRAM owes nothing.
    halt : ``Out(1)``
        DRAM must not be asked for more.
    clear : ``Out(1)``
        Reset of all others but the memory port: before a list, after an error, and after a reset of
        this component until one cycle behind it. A register.
    """

    CLEAR_CYCLES = 64
    """Longer than the data path: what is in registers without reset has left it."""

    def __init__(self, *, has_depthwise: bool = False, is_preemptible: bool = False) -> None:
        if has_depthwise and is_preemptible:
            raise ValueError("an engine that is preemptible must have no depthwise unit")
        self.has_depthwise = has_depthwise
        self.is_preemptible = is_preemptible
        unit = {
            "unit_jobs": In(stream.Signature(JOB)),
            "unit_start": Out(1),
            "unit_done": In(1),
            "unit_rows_done": In(16),
            "complete_jobs": In(16),
        }
        super().__init__({
            **(unit if has_depthwise else {}),
            "lists": In(SequencerSignature(is_preemptible=is_preemptible)),
            "requests": Out(stream.Signature(RANGE_REQUEST)).array(2),
            "jobs": In(stream.Signature(JOB)),
            "datapath_start": Out(1),
            "datapath_done": In(1),
            "transfer_done": In(1),
            "jobs_done": Out(16),
            "transfers_done": Out(16),
            "waits_transfers": Out(1),
            "cycles": In(32),
            "errors": In(ERRORS),
            "fetched_jobs": In(16),
            "loaded_jobs": In(16),
            "is_quiet": In(1),
            "memory_is_idle": In(1),
            "halt": Out(1),
            "clear": Out(1, init=1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the life of a list."""
        m = Module()
        clear_left = Signal(range(self.CLEAR_CYCLES))
        has_expired = Signal()
        is_complete = (self.jobs_done == self.lists.list.jobs) & (
            self.transfers_done == self.lists.list.transfers
        )
        begins = Signal()
        pause = self._pause(m, begins) if self.is_preemptible else None
        self._compute(m, Const(1) if pause is None else ~pause.holds)
        if self.is_preemptible:
            self._ask_for_rest(m, begins)
        else:
            self._ask(m, begins)
        m.d.sync += self.clear.eq(0)
        m.d.sync += has_expired.eq(self.cycles >= self.lists.watchdog_cycles)
        m.d.comb += self.lists.is_running.eq(1)
        with m.FSM():
            with m.State("STOPPED"):
                m.d.comb += self.lists.is_running.eq(0)
                with m.If(self.lists.start):
                    m.d.sync += [
                        self.lists.status.eq(0),
                        self.transfers_done.eq(0),
                        self.clear.eq(1),
                    ]
                    if not self.has_depthwise:
                        m.d.sync += self.jobs_done.eq(0)
                    if self.is_preemptible:
                        m.d.sync += [
                            self.jobs_done.eq(self.lists.behind.jobs),
                            self.transfers_done.eq(self.lists.behind.transfers),
                            self.lists.is_paused.eq(0),
                        ]
                    m.next = "CLEAR_BEFORE"
            with m.State("CLEAR_BEFORE"):
                m.d.comb += begins.eq(1)
                m.next = "RUN"
            with m.State("RUN"):
                m.d.sync += clear_left.eq(self.CLEAR_CYCLES - 1)
                with m.If(self._notes_error(m, has_expired)):
                    m.next = "STOP"
                with m.Elif(is_complete & self.is_quiet):
                    m.next = "STOPPED"
                if pause is not None:
                    with m.Elif(pause.is_between):
                        m.d.sync += [
                            self.lists.status.number.eq(self.jobs_done),
                            self.lists.is_paused.eq(1),
                        ]
                        m.next = "STOP"
            with m.State("STOP"):
                m.d.comb += self.halt.eq(1)
                with m.If(self.memory_is_idle):
                    m.d.sync += self.clear.eq(1)
                    m.next = "CLEAR"
            with m.State("CLEAR"):
                m.d.comb += self.halt.eq(1)
                m.d.sync += [clear_left.eq(clear_left - 1), self.clear.eq(1)]
                with m.If(clear_left == 0):
                    m.d.sync += self.clear.eq(0)
                    m.next = "STOPPED"
        return m

    def _pause(self, m: Module, begins: Signal) -> Pause:
        """Build what tells where the list can stop, and how far it has come; return it."""
        m.submodules.pause = pause = Pause()
        m.d.comb += [
            pause.begins.eq(begins),
            pause.request.eq(self.lists.pause),
            pause.job.eq(self.jobs.payload),
            pause.job_starts.eq(self.datapath_start),
            pause.job_done.eq(self.datapath_done),
            self.lists.progress.jobs.eq(self.jobs_done),
            self.lists.progress.transfers.eq(self.transfers_done),
        ]
        return pause

    def _compute(self, m: Module, may_begin: Value) -> None:
        """Build the start and end of jobs."""
        waits = Signal(2)
        m.d.comb += [
            self.datapath_start.eq(
                self._start(m, self.jobs, self.datapath_done, self._has_rows(may_begin), waits[0])
            ),
            self.waits_transfers.eq(waits.any()),
        ]
        if self.has_depthwise:
            # Its rows wait by themselves.
            m.d.comb += [
                self.unit_start.eq(self._start(m, self.unit_jobs, self.unit_done, 1, waits[1])),
                self.jobs_done.eq(self.complete_jobs),
            ]
        else:
            with m.If(self.datapath_done):
                m.d.sync += self.jobs_done.eq(self.jobs_done + 1)
        with m.If(self.transfer_done):
            m.d.sync += self.transfers_done.eq(self.transfers_done + 1)

    def _start(self, m: Module, jobs: Any, done: Value, has_rows: Any, waits: Value) -> Value:
        """Build the start of jobs, which ``waits`` for transfers; return it."""
        is_computing = Signal()
        may_start = Signal()
        starts = Signal()
        m.d.comb += [
            may_start.eq(self.transfers_done >= jobs.payload.wait_transfers),
            starts.eq(jobs.valid & ~is_computing & may_start & has_rows),
            waits.eq(jobs.valid & ~is_computing & ~may_start),
            jobs.ready.eq(done),
        ]
        with m.If(starts):
            m.d.sync += is_computing.eq(1)
        with m.Elif(done | self.clear):
            m.d.sync += is_computing.eq(0)
        return starts

    def _has_rows(self, may_begin: Value) -> Value:
        """Return whether the unit has written what the array's job waits for.

        Without a unit, whether a job ``may_begin``.
        """
        if not self.has_depthwise:
            return may_begin
        return ~(self.unit_rows_done - self.jobs.payload.wait_rows)[15]

    def _ask(self, m: Module, begins: Signal) -> None:
        """Build the requests for both parts of the list, made from the cycle after ``begins``."""
        job_words = _words_of(self.lists.list.jobs)
        wants = Signal(2)
        words = Signal(OFFSET_BITS)
        transfers_offset = Signal(OFFSET_BITS)
        # Sums stand in registers, as more follow in `ProtectionRanges`. Each is there when its
        # request is looked at: the list is there one cycle before the first, and the second later.
        m.d.sync += [
            words.eq(job_words),
            transfers_offset.eq(self.lists.list.offset + words),
        ]
        m.d.comb += [
            self.requests[0].payload.offset.eq(self.lists.list.offset),
            self.requests[0].payload.words.eq(words),
            self.requests[1].payload.offset.eq(transfers_offset),
            self.requests[1].payload.words.eq(self.lists.list.transfers),
        ]
        for number, request in enumerate(self.requests):
            m.d.comb += [request.valid.eq(wants[number]), request.payload.is_program.eq(1)]
            with m.If(request.ready | self.halt):
                m.d.sync += wants[number].eq(0)
        with m.If(begins):
            m.d.sync += wants.eq(Cat(self.lists.list.jobs.any(), self.lists.list.transfers.any()))

    def _ask_for_rest(self, m: Module, begins: Signal) -> None:
        """Build the same of a list that may go on behind what is complete.

        Neither number changes before both requests are taken: jobs and transfers come with them.
        """
        listed = self.lists.list
        jobs_left = Signal(16)
        wants = Signal(2)
        words, jobs_offset, transfers_offset = (
            Signal(OFFSET_BITS, name=name) for name in ("words", "jobs_offset", "transfers_offset")
        )
        transfers_left = Signal(16)
        m.d.comb += jobs_left.eq(listed.jobs - self.jobs_done)
        m.d.sync += [
            words.eq(_words_of(jobs_left)),
            jobs_offset.eq(listed.offset + _words_of(self.jobs_done)),
            transfers_left.eq(listed.transfers - self.transfers_done),
            transfers_offset.eq(jobs_offset + words + self.transfers_done),
        ]
        m.d.comb += [
            self.requests[0].payload.offset.eq(jobs_offset),
            self.requests[0].payload.words.eq(words),
            self.requests[1].payload.offset.eq(transfers_offset),
            self.requests[1].payload.words.eq(transfers_left),
        ]
        for number, request in enumerate(self.requests):
            m.d.comb += [request.valid.eq(wants[number]), request.payload.is_program.eq(1)]
            with m.If(request.ready | self.halt):
                m.d.sync += wants[number].eq(0)
        with m.If(begins):
            has_transfers = listed.transfers != self.transfers_done
            m.d.sync += wants.eq(Cat(jobs_left.any(), has_transfers))

    def _notes_error(self, m: Module, has_expired: Signal) -> Value:
        """Build the choice of the error that is reported; return whether there is one."""
        errors = self.errors
        transfer_number = self.transfers_done | TRANSFER_ERROR
        outside = EngineError.OUTSIDE_RANGE
        # Later assignments win.
        causes: list[tuple[Value, Any, Any]] = [
            (has_expired, EngineError.WATCHDOG, self.jobs_done),
            (errors.transfer.any(), errors.transfer, transfer_number),
            (errors.outside_transfer, outside, transfer_number),
            (errors.job.any(), errors.job, self.fetched_jobs),
            (
                errors.outside_weights | errors.bad_stream,
                Mux(errors.bad_stream, EngineError.BAD_STREAM, outside),
                self.loaded_jobs,
            ),
            (errors.outside_list, outside, 0),
        ]
        for condition, error, number in causes:
            with m.If(condition):
                m.d.sync += [self.lists.status.error.eq(error), self.lists.status.number.eq(number)]
        return Cat(condition for condition, _, _ in causes).any()


def _words_of(jobs: Value) -> Value:
    """Return how many words of DRAM the descriptors of jobs are."""
    return sum((jobs << k for k in range(JOB_WORDS.bit_length()) if JOB_WORDS >> k & 1), Const(0))
