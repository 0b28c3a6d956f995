"""The engine's three threads side by side, as time passes: a model of a list's execution.

Jobs run in order, transfers run in order, and weights are fetched group by group into two banks;
tables of sums behind convolutions need none.
The memory port serves weights and transfers one after the other. On the scratchpad's line port
results go first: a transfer moves in the cycles that they leave.
"""

import copy
import dataclasses
import math
from collections.abc import Mapping, Sequence

from kiwicha.compiler.engine.cost.advance import JOB_WORDS, advance
from kiwicha.compiler.engine.cost.course import Course, Likeness
from kiwicha.compiler.engine.cost.job_work import job_work, mean_fill_cycles
from kiwicha.compiler.engine.cost.line_port import converted_line_cycles
from kiwicha.compiler.engine.cost.progress import JobCycles, Pace, Progress
from kiwicha.contract.engine import (
    LINE_BYTES,
    EngineJob,
    EngineTransfer,
    JobFlag,
    JobKind,
    outputs_of,
)
from kiwicha.contract.latencies import PARAMETER_WAIT_CYCLES, READER_WORDS, refill_cycles
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory
from kiwicha.contract.moves import AnyJob, EngineMove

__all__ = ["Threads", "first_words"]


class Threads:
    """The three threads, advanced in the order of time.

    Parameters
    ----------
    jobs, transfers : sequence
        The list.
    macs : int
        Products per cycle.
    requantizer_cycles : int
        As `kiwicha.contract.configs.Config.requantizer_cycles`.
    memory : Memory
        What DRAM the system has.
    has_blocks : bool
        As `Config.has_blocks`.
    decoder_slack : float
        By what the decoder's time for a group of a coded stream is multiplied.
    is_report : bool
        What it says is reported, and nothing is chosen by it, so it may be nearer to what is
        measured. Weights of groups take their average time, not rounded up. A load that has waited
        for the port has more room; a store that waits for it stops its lines when the writer is
        full; refreshes fall into the starts of transfers, too. Choices were measured without these.
    """

    def __init__(
        self,
        jobs: Sequence[AnyJob],
        transfers: Sequence[EngineTransfer],
        macs: int,
        requantizer_cycles: int = 1,
        *,
        memory: Memory = DDR3_QUARTER_RATE,
        has_blocks: bool = False,
        decoder_slack: float = 1.0,
        is_report: bool = False,
    ) -> None:
        self._jobs = tuple(jobs)
        self._engine = macs, requantizer_cycles, has_blocks
        outputs = outputs_of(macs)
        lanes = outputs // requantizer_cycles
        # With pairs parameters wait for themselves, and so do groups of few words.
        settle = refill_cycles(outputs, lanes) + PARAMETER_WAIT_CYCLES
        self._decoder_slack = decoder_slack
        self._is_report = is_report
        self._likeness: Likeness | None = None
        start = memory.list_start_cycles + first_words(len(jobs), len(transfers))
        job_left = max(JOB_WORDS * len(jobs) - READER_WORDS - 2 * JOB_WORDS, 0)
        self._course = Course(
            memory=memory,
            is_report=is_report,
            refill_cycles=refill_cycles(outputs, lanes, has_pairs=has_blocks),
            settle_cycles=settle if has_blocks else -math.inf,
            paces=[self._pace(job) for job in jobs],
            tables=[self._table_cycles(job) for job in jobs],
            tables_there=[-math.inf] * len(jobs),
            moves=[(_lines(item), item.is_store, item.wait_jobs, item.flags) for item in transfers],
            progress=[
                Progress(port_free=start, transfer_free=start, time=start, job_left=job_left)
            ],
        )

    def _table_cycles(self, job: AnyJob) -> float:
        """Return the cycles that tables of sums take at the memory port."""
        return job_work(job, *self._engine).fill_cycles if _brings_tables(job) else 0

    def _pace(self, job: AnyJob) -> Pace:
        work = job_work(job, *self._engine)
        is_coded = isinstance(job, EngineJob) and job.flags & JobFlag.CODED
        has_bank = not _brings_tables(job)
        slack = self._decoder_slack if is_coded else 1.0
        fill_cycles: float = work.fill_cycles
        if self._is_report and isinstance(job, EngineJob):
            fill_cycles = mean_fill_cycles(job, self._engine[0], self._engine[2])
        return Pace(
            fill_lines=work.fill_bytes / LINE_BYTES,
            fill_cycles=fill_cycles * slack if has_bank else 0,
            first_fill_cycles=(work.fill_cycles + work.first_fill_cycles) * slack,
            start=work.start,
            cycles=work.cycles,
            last_row=work.last_row,
            share=min(work.writes / work.cycles, 1.0),
            last_share=min(work.last_writes / work.cycles, 1.0),
            converted_line=converted_line_cycles(work.cycles, work.writes, work.burst),
            last_converted_line=converted_line_cycles(
                work.cycles, work.last_writes, work.last_burst
            ),
            groups=work.groups,
            wait_transfers=job.wait_transfers,
            drain=work.drain,
        )

    def exchanged(self, jobs: Mapping[int, AnyJob]) -> "Threads":
        """Return the threads of the list with other jobs, which wait for the same transfers.

        Parameters
        ----------
        jobs : mapping of int to EngineJob
            By their number; none is a move. What comes before the first of them is not computed
            again.
        """
        found = copy.copy(self)
        found._jobs = tuple(jobs.get(number, job) for number, job in enumerate(self._jobs))
        course = self._course
        is_done = len(course.job_ends) == len(self._jobs)
        found._likeness = Likeness(course, max(jobs) + 1) if is_done else None
        progress = course.progress[: min(jobs) + 1]
        found._course = dataclasses.replace(
            course,
            paces=[
                self._pace(jobs[number]) if number in jobs else pace
                for number, pace in enumerate(course.paces)
            ],
            progress=progress,
            tables_there=list(course.tables_there),
            job_ends=course.job_ends[: progress[-1].job_ends],
            waits=course.waits[: progress[-1].job_ends],
            transfer_ends=course.transfer_ends[: progress[-1].transfer_ends],
            shares=course.shares[: progress[-1].shares],
        )
        return found

    def run(self) -> tuple[int, tuple[JobCycles, ...]]:
        """Return the cycles of the list, and of its jobs."""
        total = self.cycles()
        assert total is not None
        results = []
        for job, end, waits in zip(
            self._jobs, self._course.job_ends, self._course.waits, strict=True
        ):
            work = job_work(job, *self._engine)
            begun, transfers, weights = waits
            operations = work.operations * work.groups
            is_move = isinstance(job, EngineMove)
            results.append(
                JobCycles(
                    layer=job.layer,
                    start=round(begun),
                    end=round(end),
                    busy=0 if is_move else operations,
                    moves=operations if is_move else 0,
                    requantizer=work.held * work.groups,
                    weights=round(weights),
                    transfers=round(transfers),
                )
            )
        return total, tuple(results)

    def cycles(self, limit: float = math.inf) -> int | None:
        """Return the cycles of the list; None if they are more than a limit."""
        course = self._course
        if len(course.job_ends) < len(self._jobs) and not advance(course, limit, self._likeness):
            return None
        self._likeness = None
        total = math.ceil(max([course.job_ends[-1], *course.transfer_ends[-1:]]))
        return None if total > limit else total


def _brings_tables(job: AnyJob) -> bool:
    """Whether a job has nothing but tables for those behind it."""
    return job.kind == JobKind.ADD and bool(job.flags & JobFlag.FUSED)


def first_words(jobs: int, transfers: int) -> int:
    """Return the words of descriptors that are read before the first weights: what has room."""
    first_jobs = min(JOB_WORDS * jobs, READER_WORDS + JOB_WORDS)
    return first_jobs + min(transfers, READER_WORDS)


def _lines(transfer: EngineTransfer) -> int:
    """Return the lines of the scratchpad that a transfer touches."""
    first = transfer.scratchpad_address % LINE_BYTES
    return -(-(first + transfer.moved_bytes) // LINE_BYTES)
