"""A list: the jobs and transfers of a region as the engine reads them, and the weight streams."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.plan import Job, Plan
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.engine import (
    ENGINE_WATCHDOG_CYCLES,
    GROUP_WORDS,
    MAX_JOBS,
    TRANSFER_FLAG,
    EngineJob,
    EngineTransfer,
)
from kiwicha.contract.moves import AnyJob

__all__ = ["MAX_LIST_CYCLES", "EngineList", "PlannedTransfer"]

MAX_LIST_CYCLES = ENGINE_WATCHDOG_CYCLES // 2
"""Predicted cycles of a list, at most: slower memory than predicted is no reason to end it."""


@dataclass(frozen=True)
class PlannedTransfer:
    """A transfer, its DRAM offset relative to a tensor, or if there is none, to the constants."""

    tensor: int | None
    transfer: EngineTransfer


@dataclass(frozen=True, eq=False, kw_only=True)
class EngineList:
    """A region as the engine computes it.

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
    """

    plan: Plan
    jobs: tuple[AnyJob, ...]
    transfers: tuple[PlannedTransfer, ...]
    streams: bytes
    constants: bytes = b""

    def verify(self) -> None:
        """Assert that jobs and streams are within what the engine takes."""
        assert 0 < len(self.jobs) <= MAX_JOBS
        assert len(self.streams) % ALIGNMENT_BYTES == len(self.constants) % ALIGNMENT_BYTES == 0
        assert all(job.wait_transfers <= len(self.transfers) for job in self.jobs)
        for job in self.weighted_jobs:
            assert job.weights_offset % ALIGNMENT_BYTES == 0
            assert job.weights_offset + job.weights_bytes <= len(self.streams)
            assert job.group_words <= GROUP_WORDS
        assert all(item.transfer.wait_jobs <= len(self.jobs) for item in self.transfers)

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
    def arena_tensors(self) -> list[int]:
        """Tensors that lie in the arena while it runs."""
        return sorted({item.tensor for item in self.transfers if item.tensor is not None})

    def jobs_of(self, operation: Operation) -> list[AnyJob]:
        """Return the jobs that compute an operation."""
        computes = (event for event in self.plan.events if isinstance(event, Job))
        return [
            job
            for event, job in zip(computes, self.jobs, strict=True)
            if event.operation in (operation, *operation.job_operations)
        ]

    def image(self, tensors: Mapping[int, int]) -> bytes:
        """Return jobs, transfers, streams and tables, given the offsets of tensors in the arena."""
        head = len(self.jobs) * EngineJob.size_bytes()
        head += len(self.transfers) * EngineTransfer.size_bytes()
        parts = [
            dataclasses.replace(job, weights_offset=head + job.weights_offset).pack()
            if isinstance(job, EngineJob)
            else job.pack()
            for job in self.jobs
        ]
        constants = TRANSFER_FLAG | (head + len(self.streams))
        for planned in self.transfers:
            first = constants if planned.tensor is None else tensors[planned.tensor]
            offset = first + planned.transfer.dram_offset
            parts.append(dataclasses.replace(planned.transfer, dram_offset=offset).pack())
        return b"".join([*parts, self.streams, self.constants])
