"""Comparison of what a simulated engine writes with the reference, job by job."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.engine import LINE_BYTES, EngineCall, EngineTransfer, JobKind
from kiwicha.program.engine_list import EngineList
from kiwicha.program.image import Program
from kiwicha.program.step_lists import list_of
from kiwicha.program.unit_rows import is_unit_job
from kiwicha.sim.reference.written import Written
from kiwicha.sim.soc.probes import Count
from kiwicha.sim.verilator.activity import Activity, Span
from kiwicha.sim.verilator.write_log import WriteKind, WriteLog

__all__ = ["Compared", "Difference", "compare_parts"]

Addresses = NDArray[np.int64]


@dataclass(frozen=True)
class Difference:
    """The first byte that a part of a list wrote otherwise than the reference.

    Parameters
    ----------
    text : str
        Inference, step, job or transfer, and the layer.
    address : int
        From the start of scratchpad or arena.
    in_arena : bool
        Which of them.
    got : int or None
        The byte, -128 to 127; None if it was not written at all.
    expected : int
        What the reference has.
    cycle : int
        When it was written last, or when the part was complete without it.
    count, total : int
        Bytes of this part that differ, and that it writes.
    """

    text: str
    address: int
    in_arena: bool
    got: int | None
    expected: int
    cycle: int
    count: int
    total: int

    def __str__(self) -> str:
        where = "arena" if self.in_arena else "scratchpad"
        got = "not written" if self.got is None else f"{self.got}"
        return (
            f"{self.text} differs first at byte {self.address:#x} of the {where}: {got}, expected "
            f"{self.expected}, in cycle {self.cycle:,} ({self.count} of {self.total} bytes differ)"
        )


@dataclass
class Compared:
    """What was compared, and the first difference.

    Parameters
    ----------
    lists, jobs, transfers, octets : int
        How many were compared; octets are bytes.
    difference : Difference or None
        None if there is none.
    """

    lists: int = 0
    jobs: int = 0
    transfers: int = 0
    octets: int = 0
    difference: Difference | None = None

    def __str__(self) -> str:
        if self.difference is not None:
            return str(self.difference)
        return (
            f"{self.jobs:,} jobs and {self.transfers:,} transfers of {self.lists:,} lists wrote "
            f"the same {self.octets:,} bytes as the reference executor"
        )


@dataclass
class _Scratchpad:
    """What the log says of the scratchpad, and when each byte was written last."""

    lines: WriteLog
    size: int
    octets: NDArray[np.uint8] = field(init=False)
    cycles: Addresses = field(init=False)
    begin: int = 0

    def __post_init__(self) -> None:
        self.octets = np.zeros(self.size, np.uint8)
        self.cycles = np.full(self.size, -1, np.int64)

    def advance(self, cycle: int) -> None:
        """Write what was written up to a cycle."""
        places, values, cycles = self.lines.between(self.begin, cycle + 1).octets(self.size)
        # Of several values of one byte the last counts.
        last = len(places) - 1 - np.unique(places[::-1], return_index=True)[1]
        self.octets[places[last]] = values[last]
        self.cycles[places[last]] = cycles[last]
        self.begin = cycle + 1


def compare_parts(
    program: Program,
    parts: dict[int, list[Written]],
    activity: Activity,
    log: WriteLog,
    *,
    arena_address: int,
    scratchpad_bytes: int,
) -> Compared:
    """Compare a simulation with what the reference executor wrote, up to the first difference.

    What a job or a transfer that loads has written is compared in the cycle in which the engine
    counts it as complete; what a transfer stores, word by word as DRAM takes it. A list that did
    not come to an end is compared as far as it came.

    Parameters
    ----------
    program : Program
        What ran, once or in a row, always with the same inputs.
    parts : dict
        What `kiwicha.sim.reference.executor.written_parts` gave.
    activity, log : Activity, WriteLog
        Of the simulation.
    arena_address : int
        Where the arena was.
    scratchpad_bytes : int
        What the engine has.
    """
    done = Compared()
    scratchpad = _Scratchpad(log.of_kind(WriteKind.LINE), scratchpad_bytes)
    words = log.of_kind(WriteKind.WORD)
    commands = log.of_kind(WriteKind.COMMAND)
    lists = {
        number: list_of(program, step)
        for number, step in enumerate(program.steps)
        if isinstance(step.params, EngineCall)
    }
    steps = list(lists)
    counts = [activity.count(count) for count in Count]
    stored = 0
    for index, span in enumerate(activity.lists()):
        inference, place = divmod(index, len(steps))
        number = steps[place]
        its_list = _List(program, number, lists[number], parts[number], inference)
        ends = [activity.increments(count, span) for count in counts]
        _compare_inner(done, its_list, ends, scratchpad)
        if done.difference is None:
            stored = _compare_stores(done, its_list, words, commands, stored, span, arena_address)
        done.lists += 1
        if done.difference is not None:
            break
    return done


@dataclass(frozen=True)
class _List:
    """A list of a step, what its parts write, and the inference in which it runs."""

    program: Program
    step: int
    listed: EngineList
    parts: list[Written]
    inference: int

    def name(self, part: Written) -> str:
        """Return a part in words."""
        layer = self.program.layers[self.program.steps[self.step].layer + self._layer(part)]
        what = "transfer" if part.is_transfer else "job"
        kind = _kind_of(self.listed, part)
        return (
            f"inference {self.inference}, step {self.step}, {what} {part.number} ({kind}) of layer "
            f"{layer.index} ({layer.operator})"
        )

    def _layer(self, part: Written) -> int:
        jobs, transfer = self.listed.jobs, part.number
        if not part.is_transfer:
            return jobs[part.number].layer
        item = self.listed.transfers[transfer]
        if item.is_store:
            return jobs[max(item.wait_jobs - 1, 0)].layer
        return next((job for job in jobs if job.wait_transfers > transfer), jobs[-1]).layer


def _kind_of(listed: EngineList, part: Written) -> str:
    if part.is_transfer:
        return "store" if part.in_arena else "load"
    return JobKind(listed.jobs[part.number].kind).name


def _compare_inner(
    done: Compared, listed: _List, ends: list[list[int]], scratchpad: _Scratchpad
) -> None:
    """Compare what jobs and loads wrote, each when it is complete."""
    jobs = listed.listed.jobs
    units = [is_unit_job(job) for job in jobs]
    events = [
        (ends[part.is_transfer][part.number], part)
        for part in listed.parts
        if not part.in_arena and part.number < len(ends[part.is_transfer])
    ]
    for cycle, part in sorted(events, key=lambda event: event[0]):
        scratchpad.advance(cycle)
        addresses, values = part.addresses, part.values
        if any(units) and not part.is_transfer:
            # The other unit may be ahead by jobs that write there, too: those are compared later.
            is_own = ~np.isin(addresses, _later(listed, part, units))
            addresses, values = addresses[is_own], values[is_own]
        written = scratchpad.octets[addresses]
        differs = np.flatnonzero(written != values)
        _count(done, part)
        if len(differs):
            first = differs[addresses[differs].argmin()]
            at = int(addresses[first])
            when = int(scratchpad.cycles[at])
            done.difference = Difference(
                text=listed.name(part),
                address=at,
                in_arena=False,
                got=_signed(written[first]) if when >= 0 else None,
                expected=_signed(values[first]),
                cycle=when if when >= 0 else cycle,
                count=len(differs),
                total=len(part.addresses),
            )
            return


def _later(listed: _List, part: Written, units: Sequence[bool]) -> Addresses:
    """Return where jobs of the other unit, which come later, write."""
    found = [
        other.addresses
        for other in listed.parts
        if not other.is_transfer
        and other.number > part.number
        and units[other.number] != units[part.number]
    ]
    return np.concatenate([np.zeros(0, np.int64), *found])


def _compare_stores(
    done: Compared,
    listed: _List,
    words: WriteLog,
    commands: WriteLog,
    first: int,
    span: Span,
    arena_address: int,
) -> int:
    """Compare what stores wrote, word by word; return how many words there were so far."""
    for part in listed.parts:
        if not part.in_arena:
            continue
        transfer = listed.listed.transfers[part.number]
        count = _words_of(transfer)
        records = words.records[first : first + count]
        is_cut = len(records) < count or int(records[-1]["cycle"]) >= span[1]
        if is_cut:
            # The list has ended before: what stopped it is reported elsewhere.
            break
        _count(done, part)
        numbers = commands.numbers[first : first + count]
        difference = _store_difference(part, records, numbers, arena_address)
        if difference is not None:
            at, got, expected, cycle, wrong = difference
            done.difference = Difference(
                text=listed.name(part),
                address=at,
                in_arena=True,
                got=got,
                expected=expected,
                cycle=cycle,
                count=wrong,
                total=len(part.addresses),
            )
            break
        first += count
    return first


def _store_difference(
    part: Written, records: NDArray[np.void], numbers: Addresses, arena_address: int
) -> tuple[int, int | None, int, int, int] | None:
    """Return address, byte, expected byte, cycle and count of what a store wrote otherwise."""
    row, column = np.nonzero(records["mask"][:, None] >> np.arange(LINE_BYTES) & 1)
    places = numbers[row] * LINE_BYTES + column - (arena_address - DRAM_BASE)
    # A store writes bytes that follow each other.
    behind = places - part.addresses[0]
    is_inside = (behind >= 0) & (behind < len(part.addresses))
    source = np.full(len(part.addresses), -1, np.int64)
    source[behind[is_inside]] = np.flatnonzero(is_inside)
    values = records["data"][row, column]
    wrong = np.flatnonzero((source < 0) | (values[source] != part.values))
    if not len(wrong):
        return None
    first, index = int(wrong[0]), int(source[wrong[0]])
    got = None if index < 0 else _signed(values[index])
    cycle = int(records["cycle"][0 if index < 0 else row[index]])
    return int(part.addresses[first]), got, _signed(part.values[first]), cycle, len(wrong)


def _words_of(transfer: EngineTransfer) -> int:
    """Return how many words of DRAM a transfer touches."""
    first, size = transfer.range_offset, transfer.moved_bytes
    return (first + size - 1) // LINE_BYTES - first // LINE_BYTES + 1


def _count(done: Compared, part: Written) -> None:
    done.octets += len(part.addresses)
    if part.is_transfer:
        done.transfers += 1
    else:
        done.jobs += 1


def _signed(octet: "np.uint8 | int") -> int:
    return (int(octet) + 128) % 256 - 128
