"""Random lists of jobs and transfers for a `StandInDatapath`, and what they leave behind."""

import dataclasses
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kiwicha.contract.engine import (
    COMPUTE_KINDS,
    LINE_BYTES,
    TABLE_STREAM_KINDS,
    TRANSFER_ERROR,
    TRANSFER_FLAG,
    EngineError,
    EngineJob,
    EngineTransfer,
    JobFlag,
    JobKind,
)
from kiwicha.program.codec import streams as codec
from kiwicha.program.weight_streams import stream_shape
from tests.gateware.engine.control.stand_in_datapath import digest
from tests.support.gateware.dram_port import DramRange

__all__ = ["Broken", "JobList", "Machine", "broken", "make_job", "overfed"]

_MAX_LINES = 150
_MAX_LINES_TOO_MANY = 64


@dataclass
class JobList:
    """Descriptors, and where they go."""

    offset: int
    """In the Program."""
    jobs: list[EngineJob] = field(default_factory=list)
    transfers: list[EngineTransfer] = field(default_factory=list)

    @property
    def counts(self) -> int:
        """inputs_1 of START."""
        return len(self.jobs) | len(self.transfers) << 16


class Machine:
    """DRAM with its ranges, and the scratchpad, as a list is expected to leave them.

    Parameters
    ----------
    rng : random.Random
    macs : int
        Of the engine.
    scratchpad_bytes : int
        Its scratchpad.
    """

    def __init__(self, rng: random.Random, *, macs: int, scratchpad_bytes: int) -> None:
        self.rng, self.macs = rng, macs
        sizes = [LINE_BYTES * rng.randint(2400, 2600) for _ in range(2)]
        first = LINE_BYTES * rng.randint(1, 40)
        self.program = DramRange(first, sizes[0], is_writable=False)
        self.arena = DramRange(first + sizes[0] + LINE_BYTES * rng.randint(0, 9), sizes[1], True)
        self.dram = bytearray(rng.randbytes(self.arena.first + sizes[1] + 999))
        self.scratchpad = np.zeros(scratchpad_bytes, np.uint8)
        self.is_known = np.ones(scratchpad_bytes, bool)

    def make_list(self, steps: int) -> JobList:
        """Write a list and its weights into the Program; the order of its steps is a legal one."""
        rng = self.rng
        cursor = self.rng.randrange(0, 64, LINE_BYTES)
        made = JobList(cursor)
        cursor += steps * EngineJob.size_bytes()
        self._line = rng.randrange(8)
        inputs: list[tuple[int, int]] = []
        outputs: list[tuple[int, int]] = []
        for _ in range(steps):
            kind = rng.choice(("load", "job", "job", "store"))
            lines = rng.choice((1, 2, rng.randint(1, 20), rng.randint(1, _MAX_LINES)))
            if self._line + lines + 4 > len(self.scratchpad) // LINE_BYTES:
                break
            if kind == "job" and inputs:
                cursor = self._add_job(made, cursor, rng.choice(inputs))
                outputs.append((len(made.jobs), self._line - made.jobs[-1].groups))
            elif kind == "store" and outputs:
                self._add_store(made, *rng.choice(outputs))
            else:
                inputs.append(self._add_load(made, lines))
        self.write_list(made)
        return made

    def write_list(self, made: JobList) -> None:
        """Write the descriptors into the Program."""
        raw = b"".join(part.pack() for part in (*made.jobs, *made.transfers))
        first = self.program.first + made.offset
        self.dram[first : first + len(raw)] = raw

    def flip(self, bit: int) -> None:
        """Change a bit of the Program."""
        self.dram[self.program.first + bit // 8] ^= 1 << bit % 8

    def _add_load(self, made: JobList, lines: int) -> tuple[int, int]:
        """Add a load; return its number, and a line that is loaded as a whole, for a job."""
        rng = self.rng
        before = rng.choice((0, rng.randint(0, 15))) if lines > 2 else 0
        behind = rng.choice((0, rng.randint(0, 15))) if lines > 1 else 0
        count = LINE_BYTES * lines - before - behind
        allowed = rng.choice((self.program, self.arena))
        offset = rng.choice((
            allowed.bytes - LINE_BYTES * lines,
            LINE_BYTES * rng.randrange(1, 2000),
        ))
        bit = TRANSFER_FLAG if allowed is self.program else 0
        first = LINE_BYTES * self._line
        wait = rng.randint(0, len(made.jobs))
        made.transfers.append(
            EngineTransfer((offset + before) | bit, first + before, count, wait, 0)
        )
        whole = self._line + bool(before)
        self._line += lines
        return len(made.transfers), whole

    def _add_store(self, made: JobList, jobs: int, line: int) -> None:
        rng = self.rng
        before = rng.choice((0, rng.randint(0, 15)))
        count = rng.randint(1, LINE_BYTES * made.jobs[jobs - 1].groups - before)
        offset = rng.choice((self.arena.bytes - LINE_BYTES * 4, LINE_BYTES * rng.randrange(2000)))
        wait = rng.randint(jobs, len(made.jobs))
        made.transfers.append(
            EngineTransfer(
                offset + before, LINE_BYTES * line + before, count | TRANSFER_FLAG, wait, 0
            )
        )

    def _add_job(self, made: JobList, cursor: int, source: tuple[int, int]) -> int:
        """Add a job that reads the line of a load; return the end of its weights."""
        rng = self.rng
        kind = rng.choice(sorted(COMPUTE_KINDS - {JobKind.DEPTHWISE_UNIT}))
        flags = rng.choice((JobFlag(0), JobFlag.TAPS_8)) | rng.choice((0, JobFlag.UNSIGNED))
        flags |= rng.choice((0, JobFlag.CODED))
        groups, words = rng.randint(1, 3), rng.choice((1, rng.randint(1, 12)))
        job = make_job(
            kind=kind,
            flags=flags,
            wait_transfers=rng.randint(source[0], len(made.transfers)),
            groups=groups,
            first_address=LINE_BYTES * source[1],
            output_address=LINE_BYTES * self._line,
            output_columns=rng.choice((3, rng.randint(3, 200))),
            group_words=words,
            weights_offset=cursor,
            weight_zero_point=rng.choice((0, -256, 255, rng.randint(-256, 255))),
        )
        shape = stream_shape(job, self.macs)
        stream = rng.randbytes(shape.raw_bytes)
        if job.flags & JobFlag.CODED:
            few = bytes(range(rng.randint(1, 255)))
            stream = codec.encode(bytes(rng.choices(few, k=len(stream))), shape)
        made.jobs.append(dataclasses.replace(job, weights_bytes=len(stream)))
        self._line += groups
        first = self.program.first + cursor
        self.dram[first : first + len(stream)] = stream
        return cursor + len(stream)

    def execute(self, made: JobList) -> None:
        """Do what the engine should: transfers and jobs, each as soon as it may."""
        jobs, transfers = 0, 0
        while jobs < len(made.jobs) or transfers < len(made.transfers):
            if transfers < len(made.transfers) and made.transfers[transfers].wait_jobs <= jobs:
                self._transfer(made.transfers[transfers])
                transfers += 1
            else:
                self._compute(made.jobs[jobs])
                jobs += 1

    def _transfer(self, transfer: EngineTransfer) -> None:
        is_program = transfer.is_in_program
        allowed = self.program if is_program else self.arena
        first = allowed.first + transfer.range_offset
        count = transfer.moved_bytes
        place = slice(transfer.scratchpad_address, transfer.scratchpad_address + count)
        if transfer.is_store:
            self.dram[first : first + count] = self.scratchpad[place].tobytes()
        else:
            self.scratchpad[place] = np.frombuffer(self.dram[first : first + count], np.uint8)
            self.is_known[place] = True

    def _compute(self, job: EngineJob) -> None:
        source = self.scratchpad[job.first_address : job.first_address + LINE_BYTES]
        line = int.from_bytes(source.tobytes(), "little")
        first, shape = self.program.first + job.weights_offset, stream_shape(job, self.macs)
        stream = bytes(self.dram[first : first + job.weights_bytes])
        if job.flags & JobFlag.CODED:
            stream = codec.decode(stream, shape)
        size = shape.raw_bytes // shape.groups
        for group in range(job.groups):
            beats = [
                int.from_bytes(stream[at : at + LINE_BYTES], "little")
                for at in range(group * size, (group + 1) * size, LINE_BYTES)
            ]
            result = digest(
                beats,
                line,
                job.weight_zero_point,
                is_unsigned=bool(job.flags & JobFlag.UNSIGNED),
                is_table=job.kind in TABLE_STREAM_KINDS,
            )
            place = job.output_address + LINE_BYTES * group
            raw = np.frombuffer(result.to_bytes(LINE_BYTES, "little"), np.uint8)
            self.scratchpad[place : place + LINE_BYTES] = raw
            known = self.is_known[job.first_address : job.first_address + LINE_BYTES]
            self.is_known[place : place + LINE_BYTES] = known


def make_job(**fields: Any) -> EngineJob:
    """Return a job in which every field has a legal value, some of them the given ones."""
    values: dict[str, Any] = {name: 0 for name, _, _ in EngineJob.layout()}
    counts = "kind interval groups input_rows output_rows output_columns segment_words row_words"
    counts += (
        " group_words stride_rows dilation_rows kernel_rows segments stride_columns last_beats"
    )
    return EngineJob(**(values | dict.fromkeys(counts.split(), 1) | fields))


@dataclass(frozen=True)
class Broken:
    """A wrong descriptor, and what comes of it."""

    error: EngineError
    number: int
    change: dict[str, int]
    flipped_bit: int | None = None
    """Of the Program."""


_BAD_JOBS: dict[EngineError, list[dict[str, int]]] = {
    EngineError.BAD_KIND: [{"kind": 0}, {"kind": 9}, {"kind": 255}],
    EngineError.BAD_FIELD: [
        {"interval": 0},
        {"groups": 0},
        {"group_words": 257},
        {"flags": 1 << 15},
        {"sums": 4},
        {"reserved_1": 1},
        {"resident_word": 1},
        {"weight_zero_point": 256},
        {"weights_bytes": 24},
    ],
    EngineError.OUTSIDE_SCRATCHPAD: [{"output_address": 1 << 18}],
    EngineError.OUTSIDE_RANGE: [
        {"weights_offset": 1 << 20},
        {"weights_offset": 0xFFFF_FFF0},
        {"weights_bytes": 0xFFFF_FFF0},
    ],
}
_BAD_TRANSFERS: dict[EngineError, list[dict[str, int]]] = {
    EngineError.BAD_FIELD: [
        {"bytes": 0},
        {"dram_offset": 8, "scratchpad_address": 4},
        {"dram_offset": 15, "scratchpad_address": 16},
        {"flags": 4},
        {"wait_jobs": 1000},
    ],
    EngineError.OUTSIDE_SCRATCHPAD: [
        {"scratchpad_address": 1 << 18, "dram_offset": 0},
        {"bytes": 1 << 20},
    ],
    EngineError.OUTSIDE_RANGE: [
        {"dram_offset": 1 << 17, "scratchpad_address": 0},
        {"dram_offset": 0x7FFF_FFF0, "scratchpad_address": 0},
        {"dram_offset": TRANSFER_FLAG | 1 << 17, "scratchpad_address": 0},
        {
            "dram_offset": TRANSFER_FLAG,
            "scratchpad_address": 0,
            "bytes": TRANSFER_FLAG | 16,
            "wait_jobs": 0,
        },
    ],
}


def broken(made: JobList, error: EngineError, rng: random.Random) -> Broken | None:
    """Spoil a descriptor of the list so that the engine stops with the error.

    Returns
    -------
    Broken or None
        None if the list has no such descriptor.
    """
    if error == EngineError.BAD_STREAM:
        if not made.jobs:
            return None
        number = rng.randrange(len(made.jobs))
        job = made.jobs[number]
        if job.flags & JobFlag.CODED and rng.random() < 0.6:
            bit = 8 * job.weights_offset + rng.randrange(8 * job.weights_bytes)
            return Broken(error, number, {}, bit)
        change = {"weights_bytes": job.weights_bytes + rng.choice((-LINE_BYTES, LINE_BYTES))}
        made.jobs[number] = dataclasses.replace(job, **change)
        return Broken(error, number, change)
    choices: list[tuple[list[Any], dict[str, int], int]] = [
        (made.jobs, change, 0) for change in _BAD_JOBS.get(error, []) if made.jobs
    ] + [
        (made.transfers, change, TRANSFER_ERROR)
        for change in _BAD_TRANSFERS.get(error, [])
        if made.transfers
    ]
    if not choices:
        return None
    descriptors, change, bit = rng.choice(choices)
    number = rng.randrange(len(descriptors))
    descriptors[number] = dataclasses.replace(descriptors[number], **change)
    return Broken(error, number | bit, change)


def overfed(made: JobList, rng: random.Random) -> Broken | None:
    """Give the last job more of a coded stream than its groups take.

    They are complete, and so is the list, while words that are too many are still on their way:
    the job computes for one cycle.

    Returns
    -------
    Broken or None
        None if the last job's stream is not coded.
    """
    if not made.jobs or not made.jobs[-1].flags & JobFlag.CODED:
        return None
    job = made.jobs[-1]
    lines = rng.randint(1, _MAX_LINES_TOO_MANY)
    change = {"weights_bytes": job.weights_bytes + LINE_BYTES * lines, "output_columns": 1}
    made.jobs[-1] = dataclasses.replace(job, **change)
    return Broken(EngineError.BAD_STREAM, len(made.jobs) - 1, change)
