"""The engine's three threads side by side, as time passes: a model of a list's execution.

Jobs run in order, transfers run in order, and weights are fetched group by group into two banks.
The memory port serves weights and transfers one after the other. On the scratchpad's line port
results go first: a transfer moves in the cycles that they leave.
"""

import copy
import itertools
import math
from collections.abc import Mapping, Sequence

from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.compiler.engine.cost.progress import JobCycles, Pace, Progress
from kiwicha.contract.engine import LINE_BYTES, EngineTransfer, JobFlag
from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.contract.latencies import (
    CONVERTED_BYTES_PER_CYCLE,
    CONVERTER_LOAD_CYCLES,
    PORT_TURN_WORDS,
    READER_WORDS,
    REFILL_CYCLES,
    WEIGHTS_READY_CYCLES,
)
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory
from kiwicha.contract.moves import AnyJob, EngineMove

__all__ = ["Threads"]

ROW_AHEAD_CYCLES = 1
"""By which the last row of a group must be longer than the start of the next group."""
JOB_START_CYCLES = 2
"""From the end of a job until the next one looks for its weights."""


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
    decoder_slack : float
        By what the decoder's time for a group of a coded stream is multiplied.
    """

    def __init__(
        self,
        jobs: Sequence[AnyJob],
        transfers: Sequence[EngineTransfer],
        macs: int,
        requantizer_cycles: int = 1,
        *,
        memory: Memory = DDR3_QUARTER_RATE,
        decoder_slack: float = 1.0,
    ) -> None:
        self._memory = memory
        self._jobs = tuple(jobs)
        self._engine = macs, requantizer_cycles
        self._decoder_slack = decoder_slack
        self._paces = [self._pace(job) for job in jobs]
        self._moves = [
            (_lines(item), item.is_store, item.wait_jobs, item.flags) for item in transfers
        ]
        start = memory.list_start_cycles
        self._progress = [Progress(port_free=start, time=start)]
        self._job_ends: list[float] = []
        self._waits: list[tuple[float, float, float]] = []
        self._transfer_ends: list[float] = []
        self._shares: list[tuple[float, float, float]] = []

    def _pace(self, job: AnyJob) -> Pace:
        work = job_work(job, *self._engine)
        is_coded = not isinstance(job, EngineMove) and job.flags & JobFlag.CODED
        slack = self._decoder_slack if is_coded else 1.0
        return Pace(
            fill_lines=work.fill_bytes / LINE_BYTES,
            fill_cycles=work.fill_cycles * slack,
            first_fill_cycles=(work.fill_cycles + work.first_fill_cycles) * slack,
            start=work.start,
            cycles=work.cycles,
            last_row=work.last_row,
            share=min(work.writes / work.cycles, 1.0),
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
        found._paces = [
            self._pace(jobs[number]) if number in jobs else pace
            for number, pace in enumerate(self._paces)
        ]
        found._progress = self._progress[: min(jobs) + 1]
        state = found._progress[-1]
        found._job_ends = self._job_ends[: state.job_ends]
        found._waits = self._waits[: state.job_ends]
        found._transfer_ends = self._transfer_ends[: state.transfer_ends]
        found._shares = self._shares[: state.shares]
        return found

    def run(self) -> tuple[int, tuple[JobCycles, ...]]:
        """Return the cycles of the list, and of its jobs."""
        total = self.cycles()
        assert total is not None
        results = []
        for job, end, waits in zip(self._jobs, self._job_ends, self._waits, strict=True):
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
        if len(self._job_ends) < len(self._jobs) and not self._advance(limit):
            return None
        total = math.ceil(max([self._job_ends[-1], *self._transfer_ends[-1:]]))
        return None if total > limit else total

    def _advance(self, limit: float) -> bool:
        """Do all jobs and transfers; return False if they were given up because of the limit."""
        # All in local names: a search spends much of its time here.
        paces, moves, progress = self._paces, self._moves, self._progress
        memory, rate = self._memory, self._memory.bytes_per_cycle
        job_ends, transfer_ends, shares = self._job_ends, self._transfer_ends, self._shares
        least = [(JOB_START_CYCLES + pace.groups * pace.cycles + pace.drain) for pace in paces]
        limits = [limit + 1 - left for left in itertools.accumulate([0, *reversed(least)])]
        # fill: the next group to be filled.
        fill_job, fill_group = len(progress) - 1, 0
        # It is noted again when that group is filled.
        state = progress.pop()
        ahead, job, group, fill_end, fill_before, release, release_before = state[:7]
        port_free, transfer_free, line_end, left_lines = state[7:11]
        time, begun, waited_transfers, waited_weights = state[11:15]
        jobs_done, transfers_done, _, first_share = state[15:]
        job_count, move_count, never = len(paces), len(moves), math.inf
        is_free = [not pace.fill_cycles for pace in paces] + [False]
        while True:
            # Compute all groups whose weights and transfers are there.
            while ahead or is_free[job]:
                _, needed, _, start, cycles, last_row, share, groups, wanted, drain = paces[job]
                if needed:
                    filled = (fill_end if ahead == 1 else fill_before) + WEIGHTS_READY_CYCLES
                else:
                    filled = -never
                if group == 0:
                    if wanted > transfers_done:
                        break
                    begun = time
                    time += JOB_START_CYCLES
                    ready = transfer_ends[wanted - 1] if wanted else 0.0
                    waited_transfers = max(ready - time, 0.0)
                    time = max(time, ready)
                    waited_weights = max(filled - time, 0.0)
                    first = max(time, filled) + start
                else:
                    # The address generator goes ahead while the last row of the group before is
                    # done.
                    early = time - last_row + start - ROW_AHEAD_CYCLES
                    first = time if time > early else early
                    late = filled + start - first
                    if late > 0.0:
                        waited_weights += late
                        first = filled + start
                time = first + cycles
                shares.append((first, time, share))
                if needed:
                    release_before, release = release, time
                    ahead -= 1
                group += 1
                if group == groups:
                    time += drain
                    job_ends.append(time)
                    self._waits.append((begun, waited_transfers, waited_weights))
                    job, group, jobs_done = job + 1, 0, jobs_done + 1
                    if time > limits[-1 - job]:
                        return False
            while is_free[fill_job]:
                # A move has no weights.
                progress.append(state)
                fill_job += 1
            # What comes first: the weights of a group, or a chunk of a transfer?
            fill_time = transfer_time = never
            if ahead < 2 and fill_job < job_count:
                fill_time = (release if ahead else release_before) + REFILL_CYCLES
                if fill_end > fill_time:
                    fill_time = fill_end
                if port_free > fill_time:
                    fill_time = port_free
            if transfers_done < move_count:
                lines, is_store, wanted, flags = moves[transfers_done]
                if wanted <= jobs_done:
                    transfer_time = job_ends[wanted - 1] if wanted else 0.0
                    if transfer_free > transfer_time:
                        transfer_time = transfer_free
                    if port_free > transfer_time:
                        transfer_time = port_free
            if fill_time <= transfer_time:
                if fill_time == never:
                    break
                fill_lines, needed, first_needed, _, _, _, _, groups, _, _ = paces[fill_job]
                if fill_group == 0:
                    progress.append(
                        Progress(
                            *(ahead, job, group, fill_end, fill_before, release, release_before),
                            *(port_free, transfer_free, line_end, left_lines),
                            *(time, begun, waited_transfers, waited_weights),
                            *(jobs_done, transfers_done, len(shares), first_share),
                        )
                    )
                    needed = first_needed
                if fill_end == -never:
                    fill_time += memory.latency_cycles
                elif fill_time > fill_end:
                    # Words of this group came while the bank was not free yet.
                    early = (fill_time - fill_end) * rate / LINE_BYTES
                    if early > READER_WORDS:
                        early = READER_WORDS
                    fill_lines = fill_lines - early if early < fill_lines else 0.0
                port_free = fill_time + fill_lines * LINE_BYTES / rate
                fill_before, fill_end = fill_end, fill_time + needed
                if port_free > fill_end:
                    fill_end = port_free
                ahead += 1
                fill_group += 1
                if fill_group == groups:
                    fill_job, fill_group = fill_job + 1, 0
                continue
            # A chunk of a transfer.
            if not left_lines:
                left_lines = lines
                transfer_time += memory.store_start_cycles if is_store else memory.load_start_cycles
            chunk = min(left_lines, PORT_TURN_WORDS)
            left_lines -= chunk
            port_free = transfer_time + chunk * LINE_BYTES / rate
            earliest = max(transfer_time, line_end)
            while first_share < len(shares) and shares[first_share][1] <= earliest:
                first_share += 1
            moved = _moved(shares, first_share, earliest, chunk)
            line_end = max(moved, port_free)
            pace = 1
            if flags:
                pace = LINE_BYTES // (FLOAT_BYTES * CONVERTED_BYTES_PER_CYCLE)
                line_end = max(line_end, earliest + pace * chunk)
                if not left_lines and not is_store:
                    line_end += CONVERTER_LOAD_CYCLES
            transfer_free = line_end - pace * READER_WORDS
            if not left_lines:
                line_end += memory.store_end_cycles if is_store else 0
                transfer_free = line_end
                transfer_ends.append(line_end)
                transfers_done += 1
        assert len(job_ends) == len(paces)
        return True


def _lines(transfer: EngineTransfer) -> int:
    """Return the lines of the scratchpad that a transfer touches."""
    first = transfer.scratchpad_address % LINE_BYTES
    return -(-(first + transfer.moved_bytes) // LINE_BYTES)


def _moved(
    shares: Sequence[tuple[float, float, float]], first: int, start: float, lines: float
) -> float:
    """Return when so many lines are moved through the line port, one in each free cycle.

    Parameters
    ----------
    shares : sequence of tuple
        From when to when which share of the cycles belongs to results, in order.
    first : int
        The first of them that ends after the start.
    start : float
        When the first line can move.
    lines : float
        How many do.
    """
    now = start
    for number in range(first, len(shares)):
        begin, end, share = shares[number]
        if now + lines <= begin:
            break
        lines -= max(begin - now, 0.0)
        now = max(now, begin)
        free = (end - now) * (1.0 - share)
        if lines <= free:
            return now + lines / (1.0 - share)
        lines -= free
        now = end
    return now + lines
