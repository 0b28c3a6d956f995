"""Lists of random jobs with their descriptors and weight streams, as the engine takes them."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from kiwicha.contract.engine import (
    BLOCK_KINDS,
    LINE_BYTES,
    TRANSFER_FLAG,
    EngineJob,
    EngineTransfer,
    JobFlag,
    JobKind,
    TransferFlag,
)
from kiwicha.contract.moves import AnyJob
from kiwicha.program.codec import blocks, streams
from kiwicha.program.weight_streams import stream_shape, without_shared
from tests.gateware.engine.float_numbers import Floats
from tests.gateware.engine.unit_jobs import rows_of
from tests.gateware.engine.works import Work

__all__ = ["WorkList", "work_list"]


@dataclasses.dataclass(frozen=True)
class WorkList:
    """Jobs that change a scratchpad which is loaded before and stored behind them.

    Parameters
    ----------
    works : list of Work
        What the jobs do.
    jobs : list of EngineJob, EngineMove or EngineRecurrence
        Their descriptors.
    transfers : list of EngineTransfer
        Two loads, and a store behind what they load; with numbers of float32 those of tables and
        numbers as well; another load beside the last job if there is one.
    streams : bytes
        The weights of all jobs, and tables; they follow the descriptors.
    floats : Floats or None
        Numbers that take the place of some bytes before the jobs; the arena has them behind what is
        stored, and behind them what the list makes of them.
    """

    works: list[Work]
    jobs: list[AnyJob]
    transfers: list[EngineTransfer]
    streams: bytes
    floats: Floats | None = None

    @property
    def image(self) -> bytes:
        """What belongs at the start of the Program's range."""
        return b"".join(part.pack() for part in (*self.jobs, *self.transfers)) + self.streams

    @property
    def counts(self) -> int:
        """inputs_1 of START."""
        return len(self.jobs) | len(self.transfers) << 16

    def apply(self, memory: Any) -> None:
        """Change the scratchpad's bytes as loads of numbers and jobs do."""
        if self.floats is not None:
            self.floats.load(memory)
        for work in self.works:
            work.apply(memory)

    def spoilt(self, rng: np.random.Generator) -> tuple[bytes, int] | None:
        """Return the image with a bit of a coded stream flipped, and the number of its job."""
        coded = [
            number
            for number, job in enumerate(self.jobs)
            if isinstance(job, EngineJob) and job.flags & JobFlag.CODED
        ]
        if not coded:
            return None
        number = int(rng.choice(coded))
        job, image = self.jobs[number], bytearray(self.image)
        assert isinstance(job, EngineJob)
        bit = int(rng.integers(8 * job.weights_bytes))
        image[job.weights_offset + bit // 8] ^= 1 << bit % 8
        return bytes(image), number


def work_list(
    works: list[Work],
    macs: int,
    size: int,
    coded: Iterable[bool],
    *,
    is_stuck: bool = False,
    floats: Floats | None = None,
    has_blocks: bool = False,
    is_paced: bool = False,
    reloaded: range | None = None,
) -> WorkList:
    """Return the list of some jobs.

    Parameters
    ----------
    works : list of Work
        1 or more.
    macs : int
        Products per cycle of the engine.
    size : int
        Bytes of the scratchpad, from its start on, that are loaded and stored: a multiple of 32.
    coded : iterable of bool
        For each job, whether its weights are coded.
    is_stuck : bool
        Wait for a transfer that waits for the last job.
    floats : Floats or None
        What is converted on the way, if anything is.
    has_blocks : bool
        The engine decodes blocks.
    is_paced : bool
        Jobs say already for which rows they wait.
    reloaded : range or None
        Bytes that are loaded a second time beside the last job, before which that load waits.
        Nothing else changes them.
    """
    waits = None if is_paced else row_waits(works)
    streams: list[bytes] = []
    jobs: list[AnyJob] = []
    # In the middle of a line.
    cut = size // 2 - 5
    transfers = [
        EngineTransfer(0, 0, cut, 0, 0),
        EngineTransfer(cut, cut, size - cut, len(works) if is_stuck else 0, 0),
        EngineTransfer(size, 0, size | TRANSFER_FLAG, len(works), 0),
    ]
    loads = 2
    if floats is not None:
        loads, transfers = 4, _with_floats(transfers, floats, size, len(works))
    last_table = _LAST_TABLE
    if reloaded is not None:
        first = reloaded.start
        transfers.insert(loads, EngineTransfer(first, first, len(reloaded), len(works) - 1, 0))
        last_table += 1
    cursor = len(works) * works[0].job.size_bytes() + len(transfers) * LINE_BYTES
    for number, (work, is_coded) in enumerate(zip(works, coded, strict=True)):
        is_last = number == len(works) - 1
        wait = 1 if is_stuck and not is_last else loads
        rows = waits[number] if waits is not None else work.job.wait_rows
        if not isinstance(work.job, EngineJob):
            jobs.append(dataclasses.replace(work.job, wait_transfers=wait, wait_rows=rows))
            continue
        job, stream = _stored(work, macs, is_coded=is_coded, has_blocks=has_blocks)
        jobs.append(
            dataclasses.replace(
                job,
                wait_transfers=wait,
                wait_rows=rows,
                weights_offset=cursor,
                weights_bytes=len(stream),
            )
        )
        cursor += len(stream)
        streams.append(stream)
    if floats is not None:
        for number, table in zip((_FIRST_TABLE, last_table), floats.tables, strict=True):
            transfers[number] = dataclasses.replace(
                transfers[number], dram_offset=cursor | TRANSFER_FLAG, bytes=len(table)
            )
            cursor += len(table)
            streams.append(table)
    return WorkList(works, jobs, transfers, b"".join(streams), floats)


def row_waits(works: list[Work]) -> list[int]:
    """Return for how many rows of the other unit jobs wait, so that they do as one by one."""
    rows = {True: 0, False: 0}
    # Of each unit, what its jobs touch, and its rows up to them; for how many the last one waits.
    done: dict[bool, list[tuple[Work, int]]] = {True: [], False: []}
    waited = {True: 0, False: 0}
    found = []
    for work in works:
        is_unit = work.job.kind == JobKind.DEPTHWISE_UNIT
        for other, count in done[not is_unit]:
            if _meet([work.output], [*other.inputs, other.output]) or _meet(
                work.inputs, [other.output]
            ):
                waited[is_unit] = count
        found.append(waited[is_unit])
        rows[is_unit] += rows_of(work.job)
        done[is_unit].append((work, rows[is_unit]))
    return found


def _meet(first: list[range], second: list[range]) -> bool:
    return any(a.start < b.stop and b.start < a.stop for a in first for b in second)


_FIRST_TABLE, _LAST_TABLE = 2, 5
"""Which transfers bring the tables of numbers, if none is loaded a second time."""


def _with_floats(
    transfers: list[EngineTransfer], floats: Floats, size: int, jobs: int
) -> list[EngineTransfer]:
    """Return two loads and a store with those of numbers; where tables lie comes later."""
    *loads, store = transfers
    count = floats.bits.nbytes
    table = EngineTransfer(0, 0, 0, 0, TransferFlag.TABLE)
    return [
        *loads,
        table,
        EngineTransfer(2 * size, floats.first, count, 0, TransferFlag.FLOAT),
        store,
        table,
        EngineTransfer(
            2 * size + count, floats.first, count | TRANSFER_FLAG, jobs, TransferFlag.FLOAT
        ),
    ]


def _stored(work: Work, macs: int, *, is_coded: bool, has_blocks: bool) -> tuple[EngineJob, bytes]:
    """Return a job and its weight stream as it is stored; parameters that can be are shared."""
    assert isinstance(work.job, EngineJob)
    residency = JobFlag(work.job.flags) & (JobFlag.HELD | JobFlag.LOADS)
    job = dataclasses.replace(work.job, flags=JobFlag(work.job.flags) & ~residency)
    is_coded &= residency != JobFlag.HELD
    job, stream = _stored_words(work, job, macs, is_coded=is_coded, has_blocks=has_blocks)
    if residency == JobFlag.HELD:
        stream = streams.split(stream, stream_shape(job, macs))[0].tobytes()
    return dataclasses.replace(job, flags=JobFlag(job.flags) | residency), stream


def _stored_words(
    work: Work, job: EngineJob, macs: int, *, is_coded: bool, has_blocks: bool
) -> tuple[EngineJob, bytes]:
    """Return the same of a job that keeps no words."""
    stream = b"".join(
        beat.to_bytes(LINE_BYTES, "little") for fill in work.fills for beat in fill.beats
    )
    shorter = None
    if job.kind != JobKind.DEPTHWISE_UNIT:
        shorter = without_shared(stream, stream_shape(job, macs))
    if shorter is not None:
        job, stream = dataclasses.replace(job, flags=job.flags | JobFlag.SHARED), shorter
    shape = stream_shape(job, macs)
    if not is_coded:
        return job, stream
    flags = JobFlag(job.flags) | JobFlag.CODED
    if not has_blocks:
        return dataclasses.replace(job, flags=flags), streams.encode(stream, shape)
    zero_point = job.weight_zero_point
    is_unsigned = bool(flags & JobFlag.UNSIGNED)
    weights = blocks.weights_of(stream, shape, zero_point, is_unsigned=is_unsigned)
    if weights is None or job.kind not in BLOCK_KINDS:
        return job, stream
    # Any zero point will do, and UNSIGNED says nothing.
    other = len(stream) % 511 - 255
    stream = blocks.encode(blocks.moved(stream, shape, weights, other), shape)
    return dataclasses.replace(job, flags=flags, weight_zero_point=other), stream
