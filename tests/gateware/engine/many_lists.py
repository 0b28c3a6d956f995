"""Lists of as many jobs and transfers as there can be, and jobs of many groups and sums."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from kiwicha.contract.engine import (
    LINE_BYTES,
    MAX_KEPT_SUMS,
    TRANSFER_FLAG,
    EngineError,
    EngineJob,
    EngineTransfer,
    JobKind,
    outputs_of,
)
from kiwicha.contract.moves import AnyJob
from kiwicha.errors import SimulationError
from kiwicha.numerics import requantization as numerics
from tests.gateware.engine.campaign import Outcome, Round
from tests.gateware.engine.element_jobs import element_fills, element_job
from tests.gateware.engine.move_jobs import Move, move_job
from tests.gateware.engine.random_lists import Case
from tests.gateware.engine.sum_jobs import random_series
from tests.gateware.engine.work_list import WorkList, work_list
from tests.gateware.engine.works import Bytes, Work

__all__ = ["Moved", "list_of_groups", "list_of_loops", "list_of_moves", "list_of_sums"]

_SLOTS = 8
"""Lines that transfers fill in turn, and moves empty."""
_UNLIMITED_CYCLES = 100_000_000
_MULTIPLIER, _SHIFT = 1 << 30, -6
"""A scale of 1/128."""
_RUNS = (32_800, 33_000, 34_000, 36_000)
"""Of the loops of moves, outermost first: more than 15 bits."""
_SECOND = 3
"""Where the second tensor begins: the first one does at 0."""


@dataclass(frozen=True)
class Moved(Case):
    """A list of moves of single lines.

    Parameters
    ----------
    expected : bytes
        What is stored; if it is stopped, nothing.
    """

    expected: bytes = b""

    def check(self, outcome: Outcome, name: str) -> None:
        """Compare what the list left.

        Raises
        ------
        SimulationError
            If something differs.
        """
        wanted = self.error << 16 | (self.number or 0)
        if outcome.status != wanted:
            raise SimulationError(f"{name}: {outcome.status:#x}, not {wanted:#x}")
        if outcome.arena != self.given.arena[: self.size] + self.expected:
            raise SimulationError(f"{name} of {len(self.made.jobs)} moves left other bytes")


def list_of_moves(jobs: int, size: int, *, seed: int, is_good: bool = True) -> Moved:
    """Return a list that loads a line for each job, which moves it to another place.

    Parameters
    ----------
    jobs : int
        How many, at least one for each line that is stored; there is one transfer more.
    size : int
        Bytes of the scratchpad that are stored, behind those that are loaded.
    seed : int
        Of what is moved whereto.
    is_good : bool
        Else the last job has an interval of 0, for which the engine refuses it.
    """
    rng = np.random.default_rng(seed)
    lines, base = size // LINE_BYTES, LINE_BYTES * _SLOTS
    assert jobs >= lines
    sources = rng.integers(lines, size=jobs)
    # Each line is written.
    targets = np.concatenate([rng.permutation(lines), rng.integers(lines, size=jobs - lines)])
    packed: list[AnyJob] = []
    transfers = []
    line = Move((1, 1, 1, 1), (0,) * 4, (0,) * 4, LINE_BYTES)
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        slot = LINE_BYTES * (number % _SLOTS)
        job = move_job(line, slot, base + LINE_BYTES * int(target))
        packed.append(dataclasses.replace(job, wait_transfers=number + 1))
        waits = max(number + 1 - _SLOTS, 0)
        transfers.append(EngineTransfer(LINE_BYTES * int(source), slot, LINE_BYTES, waits, 0))
    if not is_good:
        packed[-1] = dataclasses.replace(packed[-1], interval=0)
    store = EngineTransfer(size, base, size | TRANSFER_FLAG, jobs, 0)
    made = WorkList([], packed, [*transfers, store], b"")
    loaded = rng.integers(256, size=(lines, LINE_BYTES), dtype=np.uint8)
    stored = np.zeros_like(loaded)
    for source, target in zip(sources, targets, strict=True):
        stored[target] = loaded[source]
    given = Round(made.image, loaded.tobytes() + bytes(size), made.counts, _UNLIMITED_CYCLES)
    if is_good:
        return Moved(made, given, size, expected=stored.tobytes())
    return Moved(made, given, size, EngineError.BAD_FIELD, jobs - 1, expected=bytes(size))


def list_of_groups(groups: int, macs: int, size: int, *, is_kept: bool, seed: int) -> Case:
    """Return a list with a product of channels, of which each group reads other bytes.

    Parameters
    ----------
    groups : int
        How many.
    macs, size : int
        Products per cycle, and bytes of the scratchpad: all are loaded and stored, and addresses
        wrap there. A power of two up to 65536.
    is_kept : bool
        Results of all groups are kept, in the second half of the scratchpad, and groups read the
        first half. Else results of the last one are left, of all others no byte.
    seed : int
        Of parameters and bytes.
    """
    rng = np.random.default_rng(seed)
    outputs = outputs_of(macs)
    target = size // 2
    assert not is_kept or outputs * (groups + 1) <= target
    step = outputs if is_kept else 0
    job = element_job(
        JobKind.MUL,
        macs,
        [(0, 0), (_SECOND, 0)],
        target,
        1,
        pitches=(outputs, outputs),
        groups=groups,
        last_values=outputs,
        has_one_pixel=True,
        is_wide=False,
        is_square=False,
        output_zero_point=3,
        clamp=(-128, 127),
    )
    job = dataclasses.replace(job, group_output_step=step)
    biases = rng.integers(-1000, 1000, (groups, outputs))
    scales = np.broadcast_to([[[_MULTIPLIER]], [[_SHIFT]]], (2, groups, outputs))
    parameters = np.concatenate([biases[None], scales])

    def apply(memory: Bytes) -> None:
        first = 0 if is_kept else groups - 1
        places = outputs * np.arange(first, groups)[:, None] + np.arange(outputs)
        x, y = (
            memory[(place + places) % size].view(np.int8).astype(np.int64) for place in (0, _SECOND)
        )
        values = numerics.requantize(
            x * y + biases[first:], np.int64(_MULTIPLIER), np.int64(_SHIFT), 3, -128, 127
        )
        memory[target : target + values.size] = values.astype(np.int8).view(np.uint8).reshape(-1)

    spans = (range(size), range(target, target + outputs))
    work = Work(job, element_fills(macs, parameters, None), [spans[0]], spans[1], apply)
    made = work_list([work], macs, size, [False])
    given = Round(made.image, rng.bytes(2 * size), made.counts, _UNLIMITED_CYCLES)
    return Case(made, given, size)


def list_of_loops(macs: int, size: int, *, seed: int) -> Case:
    """Return a list of a move of one long piece, and of moves with one long loop each.

    Parameters
    ----------
    macs, size : int
        Products per cycle, and bytes of the scratchpad, which are loaded and stored; 65536 or more.
    seed : int
        Of the bytes.
    """
    rng = np.random.default_rng(seed)
    loops = len(_RUNS)
    tail = size - LINE_BYTES * loops
    half = size // 2
    works = [_move_work(Move((1,) * loops, (0,) * loops, (0,) * loops, tail - half), 3, half)]
    for loop, runs in enumerate(_RUNS):
        counts, strides = (
            tuple(value if k == loop else other for k in range(loops))
            for value, other in ((runs, 1), (1, 0))
        )
        # All of its bytes go to the same place.
        move = Move(counts, strides, (0,) * loops, 1)
        works.append(_move_work(move, 5, tail + LINE_BYTES * loop))
    made = work_list(works, macs, size, [False] * len(works))
    given = Round(made.image, rng.bytes(2 * size), made.counts, _UNLIMITED_CYCLES)
    return Case(made, given, size)


def _move_work(move: Move, source: int, target: int) -> Work:
    """Return a move that leaves one piece, from its last place."""
    last = source + sum(
        (count - 1) * stride for count, stride in zip(move.counts, move.source_strides, strict=True)
    )

    def apply(memory: Bytes) -> None:
        memory[target : target + move.piece] = memory[last : last + move.piece].copy()

    spans = (range(source, last + move.piece), range(target, target + move.piece))
    return Work(move_job(move, source, target), [], [spans[0]], spans[1], apply)


def list_of_sums(macs: int, size: int, kind: JobKind, *, seed: int) -> Case:
    """Return a list that keeps more than half as many sums as there is room for.

    Parameters
    ----------
    macs, size : int
        Products per cycle, and bytes of the scratchpad, all of which are loaded and stored.
    kind : JobKind
        CONV or DEPTHWISE.
    seed : int
        Of all that is drawn.
    """
    rng = np.random.default_rng(seed)
    sums = 0
    while sums <= MAX_KEPT_SUMS // 2:
        works = random_series(rng, macs, kind, size)
        job = works[-1].job
        assert isinstance(job, EngineJob)
        sums = job.output_rows * job.output_columns * job.groups * outputs_of(macs)
    made = work_list(works, macs, size, [False] * len(works))
    given = Round(made.image, rng.bytes(2 * size), made.counts, _UNLIMITED_CYCLES)
    return Case(made, given, size)
