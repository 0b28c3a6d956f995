"""Lists anywhere in DRAM, in ranges that begin long before them; and lists that reach outside."""

import dataclasses

import numpy as np

from kiwicha.contract.cfu import DRAM_BYTES
from kiwicha.contract.engine import (
    LINE_BYTES,
    TRANSFER_ERROR,
    TRANSFER_FLAG,
    EngineError,
    EngineJob,
    EngineTransfer,
    JobKind,
)
from kiwicha.contract.moves import AnyJob
from tests.gateware.engine.random_lists import Case, random_case
from tests.gateware.engine.work_list import WorkList

__all__ = ["outside_lists", "placed"]

_OFFSET_BITS = range((DRAM_BYTES - 1).bit_length(), 31)
"""Bits of an offset that no byte of DRAM has."""


def placed(case: Case, rng: np.random.Generator) -> Case:
    """Return a list at another place of DRAM, with other offsets in its ranges.

    Parameters
    ----------
    case : Case
        A list that is good, or stopped by the watchdog.
    rng : numpy.random.Generator
        Of the place.
    """
    given = case.given
    last = DRAM_BYTES - len(given.image) - len(given.arena)
    first = _lines(rng, last)
    program = _lines(rng, first)
    arena = _lines(rng, first + len(given.image))
    made = _moved(case.made, program, arena)
    changed = dataclasses.replace(
        given,
        image=made.image,
        first_byte=first,
        ranges=((program, program + len(given.image)), (arena, arena + len(given.arena))),
        offset=program,
    )
    return dataclasses.replace(case, made=made, given=changed)


def _lines(rng: np.random.Generator, last: int) -> int:
    """Return a number of bytes up to ``last``, in whole lines; often nearly all, or few."""
    lines = last // LINE_BYTES
    some = int(rng.integers(lines + 1))
    chosen = (some, some >> int(rng.integers(24)), lines - (some >> int(rng.integers(24))))
    return LINE_BYTES * chosen[int(rng.integers(len(chosen)))]


def _moved(made: WorkList, program: int, arena: int) -> WorkList:
    """Return a list whose offsets are greater."""
    jobs: list[AnyJob] = [
        dataclasses.replace(job, weights_offset=job.weights_offset + program)
        if isinstance(job, EngineJob)
        else job
        for job in made.jobs
    ]
    transfers = [
        dataclasses.replace(
            item,
            dram_offset=item.dram_offset + (program if item.dram_offset & TRANSFER_FLAG else arena),
        )
        for item in made.transfers
    ]
    return dataclasses.replace(made, jobs=jobs, transfers=transfers)


def outside_lists(macs: int, size: int) -> list[Case]:
    """Return lists of which a part is outside its range: by one line, or far away.

    Parameters
    ----------
    macs, size : int
        Products per cycle, and bytes of the scratchpad that are loaded and stored.
    """
    rng = np.random.default_rng(12)
    good = random_case(
        rng, macs, size, 3 * [JobKind.MUL], wanted=EngineError.NONE, has_floats=False
    )
    made, image = good.made, len(good.given.image)
    jobs, transfers = len(made.jobs), len(made.transfers)
    store = transfers - 1
    head = sum(len(job.pack()) for job in made.jobs)
    found = [
        _in_ranges(good, program, 2 * size, number)
        for program, number in (
            (head - LINE_BYTES, 0),
            (head + LINE_BYTES * (transfers - 1), 0),
            (image - LINE_BYTES, jobs - 1),
        )
    ]
    found.append(_in_ranges(good, image, 2 * size - LINE_BYTES, TRANSFER_ERROR | store))
    found.append(_in_ranges(good, image, LINE_BYTES, TRANSFER_ERROR))
    for number in (0, store):
        for bit in _OFFSET_BITS:
            offset = made.transfers[number].dram_offset + (1 << bit)
            found.append(_with_transfer(good, number, dram_offset=offset))
    # Nothing is written to the Program.
    found.append(_with_transfer(good, store, dram_offset=TRANSFER_FLAG))
    for bit in (*_OFFSET_BITS, 31):
        changed = list(made.jobs)
        job = changed[-1]
        assert isinstance(job, EngineJob)
        changed[-1] = dataclasses.replace(job, weights_offset=job.weights_offset + (1 << bit))
        found.append(_stopped(good, dataclasses.replace(made, jobs=changed), jobs - 1))
        given = dataclasses.replace(good.given, offset=1 << bit)
        found.append(dataclasses.replace(_stopped(good, made, 0), given=given))
    return found


def _in_ranges(good: Case, program: int, arena: int, number: int) -> Case:
    """Return a list whose ranges have other sizes."""
    case = _stopped(good, good.made, number)
    given = dataclasses.replace(case.given, ranges=((0, program), (0, arena)))
    return dataclasses.replace(case, given=given)


def _with_transfer(good: Case, number: int, *, dram_offset: int) -> Case:
    transfers: list[EngineTransfer] = [*good.made.transfers]
    transfers[number] = dataclasses.replace(transfers[number], dram_offset=dram_offset)
    made = dataclasses.replace(good.made, transfers=transfers)
    return _stopped(good, made, TRANSFER_ERROR | number)


def _stopped(good: Case, made: WorkList, number: int) -> Case:
    given = dataclasses.replace(good.given, image=made.image)
    return Case(made, given, good.size, EngineError.OUTSIDE_RANGE, number)
