"""What the model of a list's execution knows of a job, how far it is, and what it finds."""

import math
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["JobCycles", "Pace", "Progress"]


@dataclass(frozen=True)
class JobCycles:
    """When a job runs and what it waits for, in cycles of its list.

    Parameters
    ----------
    layer : int
        As in `EngineJob`.
    start, end : int
        From the end of the job before to its own end.
    busy, moves, requantizer, weights, transfers, overhead : int
        What the time was spent on: operations, or those of a move, waiting for the requantizer, for
        weights, for transfers, and starting and ending.
    """

    layer: int
    start: int
    end: int
    busy: int
    moves: int
    requantizer: int
    weights: int
    transfers: int

    @property
    def overhead(self) -> int:
        """What is neither work nor waiting."""
        waited = self.requantizer + self.weights + self.transfers
        return self.end - self.start - self.busy - self.moves - waited

    @property
    def bound(self) -> str:
        """What most of the time was spent on."""
        parts = {
            "multipliers": self.busy,
            "moves": self.moves,
            "requantizer": self.requantizer,
            "weights": self.weights,
            "transfers": self.transfers,
            "overhead": self.overhead,
        }
        return max(parts, key=lambda name: parts[name])


class Pace(NamedTuple):
    """What the threads need to know of a job: of its groups, and of the job as a whole.

    Parameters
    ----------
    fill_lines : float
        Lines of a group's weight stream, as stored.
    fill_cycles, first_fill_cycles : float
        What a group's weights need, at least; what those of the first group need. 0 if the job has
        no weights.
    start, cycles, last_row : int
        As in `Work`.
    share, last_share : float
        Of the cycles in which results, and no transfer, have the line port; of those of the last
        group.
    converted_line, last_converted_line : float
        Cycles for a line of DRAM that is converted meanwhile; in the last group.
    groups, wait_transfers, drain : int
        Of the job, as in `EngineJob` and `Work`.
    """

    fill_lines: float
    fill_cycles: float
    first_fill_cycles: float
    start: int
    cycles: int
    last_row: int
    share: float
    last_share: float
    converted_line: float
    last_converted_line: float
    groups: int
    wait_transfers: int
    drain: int


class Progress(NamedTuple):
    """How far the threads are when the first group of a job is to be filled.

    Parameters
    ----------
    ahead : int
        Groups whose weights are there and that are not computed.
    job, group : int
        The next group to be computed.
    fill_end, fill_before : float
        When weights were there: of the last group filled, and of the one before.
    release, release_before : float
        When a group was computed: the last one, and the one before.
    port_free, transfer_free, line_end : float
        When DRAM port, transfers and line port are free.
    left_lines : float
        Of the transfer under way, those that were not asked for.
    chunk : float
        Lines of it that come now, or that came last; 0 between transfers.
    chunk_start, chunk_port : float
        When the first of these can be moved, and when DRAM has given the last.
    is_transfers_turn : bool
        Whether the port goes to a transfer first if weights could come at the same time.
    turn_cycles, turn_words : float
        What it costs the port to turn to weights now; words of weights since it did.
    time, begun, waited_transfers, waited_weights : float
        The end of the last group; of its job, the beginning, and what it has waited for.
    job_ends, transfer_ends, shares, first_share : int
        Lengths of these lists; which of the shares is the first that still counts.
    blocked_from, blocked_until : float
        When requests of transfers wait behind one for weights.
    described, job_room, job_left : int
        Descriptors of jobs that have passed; words for which their reader has room, and those that
        it has not asked for.
    due_time, due_words : float
        When descriptors are asked for, of jobs and of transfers, and how many words.
    line_ahead, slowing : float
        Of the chunk: by how many cycles the next words come before its last line has moved, and
        what more its lines take because of refreshes, of their cycles.
    tables_end : float
        When the last tables of sums behind convolutions were there.
    """

    ahead: int = 0
    job: int = 0
    group: int = 0
    fill_end: float = -math.inf
    fill_before: float = -math.inf
    release: float = -math.inf
    release_before: float = -math.inf
    port_free: float = 0.0
    transfer_free: float = 0.0
    line_end: float = 0.0
    left_lines: float = 0
    chunk: float = 0
    chunk_start: float = 0.0
    chunk_port: float = 0.0
    is_transfers_turn: bool = False
    turn_cycles: float = 0
    turn_words: float = 0.0
    time: float = 0.0
    begun: float = 0.0
    waited_transfers: float = 0.0
    waited_weights: float = 0.0
    job_ends: int = 0
    transfer_ends: int = 0
    shares: int = 0
    first_share: int = 0
    blocked_from: float = math.inf
    blocked_until: float = math.inf
    described: int = 2
    job_room: int = 0
    job_left: int = 0
    due_time: float = 0.0
    due_words: float = 0
    line_ahead: float = 0.0
    slowing: float = 0.0
    tables_end: float = -math.inf

    @property
    def times(self) -> tuple[float, ...]:
        """What is counted from the start of the list."""
        return tuple(self[number] for number in _TIMES)

    @property
    def counts(self) -> tuple[float, ...]:
        """All else."""
        return tuple(self[number] for number in _COUNTS)


_TIME_NAMES = {
    *("fill_end", "fill_before", "release", "release_before"),
    *("port_free", "transfer_free", "line_end", "chunk_start", "chunk_port"),
    *("time", "begun", "blocked_from", "blocked_until", "due_time", "tables_end"),
}
_TIMES = [number for number, name in enumerate(Progress._fields) if name in _TIME_NAMES]
_COUNTS = [number for number, name in enumerate(Progress._fields) if name not in _TIME_NAMES]
