"""Lists: the jobs and transfers of a region as the engine reads them, and the weight streams."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.plan import Job, Plan
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.engine import (
    ENGINE_WATCHDOG_CYCLES,
    GROUP_WORDS,
    MAX_JOBS,
    MAX_U8,
    MAX_U16,
    TRANSFER_FLAG,
    EngineJob,
    EngineTransfer,
    SumFlag,
    TransferFlag,
)
from kiwicha.contract.moves import AnyJob
from kiwicha.program.unit_rows import UnitRows, is_unit_job, unit_rows, without_rows_before

__all__ = ["MAX_LIST_CYCLES", "EngineList", "ListPart", "PlannedTransfer"]

MAX_LIST_CYCLES = ENGINE_WATCHDOG_CYCLES // 2
"""Predicted cycles of a list, at most: slower memory than predicted is no reason to end it."""


@dataclass(frozen=True)
class PlannedTransfer:
    """A transfer, its DRAM offset relative to a tensor, or if there is none, to the constants."""

    tensor: int | None
    transfer: EngineTransfer


@dataclass(frozen=True, eq=False, kw_only=True)
class EngineList:
    """A region as the engine computes it: one list, or several that follow each other.

    Parameters
    ----------
    plan : Plan
        In which order, and where in the scratchpad.
    jobs : tuple of EngineJob
        In order; ``weights_offset`` counts from the first stream.
    transfers : tuple of PlannedTransfer
        In order.
    streams : bytes
        Weight streams.
    constants : bytes
        What transfers bring that are of no tensor, such as tables of the converter; their DRAM
        offsets count from its first byte.
    ends : tuple of (int, int)
        How many jobs and how many transfers are done when each of the lists but the last ends.
    again : tuple of EngineJob
        The jobs as they are when the weights that the list keeps are there; none if it keeps none.
        Then it is one list.
    computed_bytes : int
        Size of weight streams that are computed, behind its constants; such a list lies in the
        arena.
    brought : tuple of BroughtList
        Lists that it brings there.
    """

    plan: Plan
    jobs: tuple[AnyJob, ...]
    transfers: tuple[PlannedTransfer, ...]
    streams: bytes
    constants: bytes = b""
    ends: tuple[tuple[int, int], ...] = ()
    again: tuple[AnyJob, ...] = ()
    computed_bytes: int = 0
    brought: "tuple[BroughtList, ...]" = ()

    def verify(self) -> None:
        """Assert that jobs and streams are within what the engine takes."""
        assert self.jobs
        assert bool(self.computed_bytes) == (self.region.list_tensor is not None)
        assert not self.computed_bytes or not (self.ends or self.again)
        assert len(self.streams) % ALIGNMENT_BYTES == len(self.constants) % ALIGNMENT_BYTES == 0
        assert all(job.wait_transfers <= len(self.transfers) for job in self.jobs)
        assert len(self.again) in {0, len(self.jobs)}
        assert not (self.again and self.ends)
        end = len(self.streams)
        if self.computed_bytes:
            end += len(self.constants) + self.computed_bytes
        for job in (*self.weighted_jobs, *self.again):
            if not isinstance(job, EngineJob):
                continue
            assert job.weights_offset % ALIGNMENT_BYTES == 0
            assert job.weights_offset + job.weights_bytes <= end
            assert job.group_words <= GROUP_WORDS
        assert all(item.transfer.wait_jobs <= len(self.jobs) for item in self.transfers)
        for part in self.parts:
            part.verify()

    @property
    def region(self) -> Region:
        """What it computes."""
        return self.plan.region

    @property
    def weighted_jobs(self) -> list[EngineJob]:
        """Jobs with a weight stream."""
        return [job for job in self.jobs if isinstance(job, EngineJob)]

    @property
    def engine_transfers(self) -> list[EngineTransfer]:
        """The transfers, their DRAM offsets relative to tensors."""
        return [planned.transfer for planned in self.transfers]

    @property
    def event_transfers(self) -> list[int]:
        """Numbers of the transfers that are events of the plan: others bring tables, or lists."""
        others = {number for item in self.brought for number in item.transfers}
        return [
            number
            for number, item in enumerate(self.transfers)
            if number not in others and item.transfer.flags != TransferFlag.TABLE
        ]

    @property
    def arena_tensors(self) -> list[int]:
        """Tensors that lie in the arena while it runs."""
        return sorted({item.tensor for item in self.transfers if item.tensor is not None})

    @cached_property
    def parts(self) -> "tuple[ListPart, ...]":
        """The lists, in order."""
        starts = ((0, 0), *self.ends)
        ends = (*self.ends, (len(self.jobs), len(self.transfers)))
        return tuple(
            ListPart(self, range(first[0], end[0]), range(first[1], end[1]))
            for first, end in zip(starts, ends, strict=True)
        )

    @property
    def scratchpad_bytes(self) -> int:
        """Bytes of the scratchpad that it uses."""
        brought = (item.scratchpad_end for item in self.brought)
        return max([self.plan.scratchpad_bytes, *brought])

    @property
    def list_bytes(self) -> int:
        """Size of its lists, from the first one to the streams."""
        return sum(part.list_bytes for part in self.parts)

    @property
    def stored_bytes(self) -> int:
        """Size of what the Program holds of it."""
        return self.list_bytes + len(self.streams) + len(self.constants)

    @property
    def image_tensors(self) -> dict[int, int]:
        """Lists in the arena that it is, or writes: their tensors, and bytes."""
        lists = [item.whole for item in self.brought]
        own = [self] if self.computed_bytes else []
        return {
            item.region.list_tensor: item.stored_bytes + item.computed_bytes
            for item in (*own, *lists)
            if item.region.list_tensor is not None
        }

    @cached_property
    def rows(self) -> list[UnitRows]:
        """Rows of each job, by which array and depthwise unit wait for each other."""
        return unit_rows(self.jobs)

    def jobs_of(self, operation: Operation) -> list[AnyJob]:
        """Return the jobs that compute an operation."""
        computes = (event for event in self.plan.events if isinstance(event, Job))
        return [
            job
            for event, job in zip(computes, self.jobs, strict=True)
            if event.operation in (operation, *operation.job_operations)
        ]

    def images(self, tensors: Mapping[int, int]) -> list[bytes]:
        """Return the bytes of each list, then those of streams and constants, which all share.

        Parameters
        ----------
        tensors : mapping of int to int
            Offsets of tensors in the arena.
        """
        constants = bytearray(self.constants)
        for item in self.brought:
            constants[item.start : item.start + item.whole.stored_bytes] = b"".join(
                item.whole.images(tensors)
            )
        images = [self.streams + constants]
        distance = 0
        for part in reversed(self.parts):
            distance += part.list_bytes
            images.insert(0, part.image(tensors, distance))
        return images


@dataclass(frozen=True, eq=False)
class BroughtList:
    """A list that another one brings to the arena, because its weights are computed.

    Parameters
    ----------
    whole : EngineList
        The list.
    start : int
        Where it is among the constants of the other one.
    scratchpad_end : int
        Where its way through the scratchpad ends.
    transfers : range
        Numbers of the transfers that bring it.
    """

    whole: EngineList
    start: int
    scratchpad_end: int
    transfers: range


@dataclass(frozen=True, eq=False)
class ListPart:
    """One of the lists of a region.

    It goes on with what the one before it has left in the scratchpad. What its jobs and transfers
    wait for counts from its own first ones.

    Parameters
    ----------
    whole : EngineList
        All of them.
    job_numbers, transfer_numbers : range
        Its part of them.
    """

    whole: EngineList
    job_numbers: range
    transfer_numbers: range

    def verify(self) -> None:
        """Assert that the engine takes it."""
        assert 0 < len(self.jobs) <= MAX_JOBS
        assert len(self.transfers) <= MAX_U16
        assert all(job.wait_transfers <= len(self.transfers) for job in self.jobs)
        assert all(item.transfer.wait_jobs <= len(self.jobs) for item in self.transfers)
        last = self.jobs[-1]
        assert not isinstance(last, EngineJob) or not last.sums & SumFlag.KEEP

    @property
    def goes_on(self) -> bool:
        """Whether there is a list before it."""
        return bool(self.job_numbers.start)

    @cached_property
    def jobs(self) -> tuple[AnyJob, ...]:
        """Its jobs, as `EngineList.jobs`."""
        if not self.goes_on:
            return self.whole.jobs[: self.job_numbers.stop]
        found = []
        before, rows = self.job_numbers.start, self.whole.rows
        done = dict.fromkeys((False, True), 0)
        for job, its_rows in zip(self.whole.jobs[:before], rows, strict=False):
            done[is_unit_job(job)] = its_rows.end
        for number in self.job_numbers:
            whole_job = self.whole.jobs[number]
            job = without_rows_before(whole_job, rows[number], done[not is_unit_job(whole_job)])
            waits = max(job.wait_transfers - self.transfer_numbers.start, 0)
            waits += len(self._table) if waits else 0
            found.append(dataclasses.replace(job, wait_transfers=waits))
        return tuple(found)

    @property
    def far_layers(self) -> tuple[int, ...]:
        """The layer of each job, counted from the region's first; () if all descriptors have it."""
        events = [event for event in self.whole.plan.events if isinstance(event, Job)]
        positions = (events[number].operation.position for number in self.job_numbers)
        layers = tuple(position - self.whole.region.first_layer for position in positions)
        return layers if max(layers) > MAX_U8 else ()

    @cached_property
    def transfers(self) -> tuple[PlannedTransfer, ...]:
        """Its transfers, as `EngineList.transfers`; before them its converter's table."""
        if not self.goes_on:
            return self._own_transfers
        found = [*self._table]
        for item in self._own_transfers:
            waits = max(item.transfer.wait_jobs - self.job_numbers.start, 0)
            found.append(_waiting(item, waits))
        return tuple(found)

    @property
    def list_bytes(self) -> int:
        """Size of its jobs and transfers, and of those that may take their place."""
        jobs, transfers = len(self.jobs), len(self.transfers)
        size = jobs * EngineJob.size_bytes() + transfers * EngineTransfer.size_bytes()
        return 2 * size if self.whole.again else size

    @cached_property
    def _table(self) -> tuple[PlannedTransfer, ...]:
        """The transfer of the table that a transfer needs before another one comes, if any."""
        kinds = (item.transfer.flags for item in self._own_transfers)
        if next(filter(None, kinds), 0) != TransferFlag.FLOAT:
            return ()
        before = self.whole.transfers[: self.transfer_numbers.start]
        tables = (item for item in reversed(before) if item.transfer.flags == TransferFlag.TABLE)
        return (_waiting(next(tables), 0),)

    @property
    def _own_transfers(self) -> tuple[PlannedTransfer, ...]:
        return self.whole.transfers[self.transfer_numbers.start : self.transfer_numbers.stop]

    def image(self, tensors: Mapping[int, int], distance: int) -> bytes:
        """Return its bytes, given the offsets of tensors, and how far behind its start streams are.

        If it keeps weights, the list for when they are there is behind it.

        Parameters
        ----------
        tensors : mapping of int to int
            Offsets of tensors in the arena.
        distance : int
            Bytes from its first one to the streams.
        """
        lists = [self.jobs, *([self.whole.again] if self.whole.again else [])]
        return b"".join(self._packed(jobs, tensors, distance) for jobs in lists)

    def _packed(self, jobs: tuple[AnyJob, ...], tensors: Mapping[int, int], distance: int) -> bytes:
        """Return the bytes of jobs and its transfers."""
        parts = [
            dataclasses.replace(job, weights_offset=distance + job.weights_offset).pack()
            if isinstance(job, EngineJob)
            else job.pack()
            for job in jobs
        ]
        constants = TRANSFER_FLAG | (distance + len(self.whole.streams))
        for planned in self.transfers:
            first = constants if planned.tensor is None else tensors[planned.tensor]
            offset = first + planned.transfer.dram_offset
            parts.append(dataclasses.replace(planned.transfer, dram_offset=offset).pack())
        return b"".join(parts)


def _waiting(item: PlannedTransfer, jobs: int) -> PlannedTransfer:
    """Return a transfer that waits for so many jobs."""
    return dataclasses.replace(item, transfer=dataclasses.replace(item.transfer, wait_jobs=jobs))
