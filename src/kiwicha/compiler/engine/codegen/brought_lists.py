"""Lists in the arena, and the transfers that bring them there.

A product of computed matrices is in a list that lies in the arena, in front of weight streams that
the list before it has written. That list brings the descriptors as well: they are constants of its
own, which pass through the scratchpad.
"""

import dataclasses
from collections.abc import Sequence

from kiwicha.compiler.engine.ir.engine_list import BroughtList, EngineList, PlannedTransfer
from kiwicha.compiler.engine.ir.refusals import RefusedError
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import TRANSFER_FLAG, EngineJob, EngineTransfer
from kiwicha.contract.moves import AnyJob

__all__ = ["with_brought_lists"]

_PASS = 2
"""Transfers that bring a list: into the scratchpad, and out of it."""


def with_brought_lists(lists: Sequence[EngineList], config: Config) -> list[EngineList]:
    """Return lists of which those that write weight streams bring the lists that read them.

    Parameters
    ----------
    lists : sequence of EngineList
        In order. A list in the arena is behind that which writes its streams.
    config : Config
        With an engine.

    Raises
    ------
    RefusedError
        If such a list cannot be brought; names the layer of its product.
    """
    found: list[EngineList] = []
    for item in reversed(lists):
        is_brought = bool(found) and found[-1].computed_bytes > 0
        found.append(_bringing(item, found[-1], config) if is_brought else item)
    return found[::-1]


def _bringing(whole: EngineList, other: EngineList, config: Config) -> EngineList:
    """Return a list that brings the one behind it to the arena."""
    tensor = other.region.list_tensor
    assert tensor is not None
    assert tensor in whole.region.written
    assert not whole.brought
    size = other.stored_bytes
    if size > config.scratchpad_bytes:
        why = f"has a list of {size:,} bytes; the scratchpad holds {config.scratchpad_bytes:,}"
        raise RefusedError(other.region.position, why)
    transfers = [_behind(item, tensor, size) for item in whole.transfers]
    place, waited = whole.plan.scratchpad_bytes, 0
    first = _before_last_waits(whole)
    if place + size > config.scratchpad_bytes:
        # There is room when all else is done.
        place, waited, first = 0, len(whole.jobs), len(transfers)
    load = EngineTransfer(
        dram_offset=len(whole.constants),
        scratchpad_address=place,
        bytes=size,
        wait_jobs=waited,
        flags=0,
    )
    store = dataclasses.replace(load, dram_offset=0, bytes=size | TRANSFER_FLAG)
    transfers[first:first] = [PlannedTransfer(None, load), PlannedTransfer(tensor, store)]
    found = dataclasses.replace(
        whole,
        jobs=tuple(_waiting(job, first) for job in whole.jobs),
        again=tuple(_waiting(job, first) for job in whole.again),
        transfers=tuple(transfers),
        constants=whole.constants + bytes(size),
        brought=(
            BroughtList(other, len(whole.constants), place + size, range(first, first + _PASS)),
        ),
    )
    if found.computed_bytes:
        # Its own streams are behind its constants.
        found = dataclasses.replace(
            found, jobs=tuple(_further(job, whole, size) for job in found.jobs)
        )
    found.verify()
    return found


def _before_last_waits(whole: EngineList) -> int:
    """Return the number of the first transfer of the last list that waits for the last jobs."""
    start = whole.ends[-1][1] if whole.ends else 0
    waits = [item.transfer.wait_jobs for item in whole.transfers]
    most = max(waits[start:], default=0)
    return next((k for k in range(start, len(waits)) if waits[k] == most), len(waits))


def _behind(item: PlannedTransfer, tensor: int, size: int) -> PlannedTransfer:
    """Return a transfer; what it stores to a list in the arena comes behind its first bytes."""
    if item.tensor != tensor:
        return item
    offset = item.transfer.dram_offset + size
    return dataclasses.replace(
        item, transfer=dataclasses.replace(item.transfer, dram_offset=offset)
    )


def _waiting(job: AnyJob, first: int) -> AnyJob:
    """Return a job as it waits when there are further transfers."""
    if job.wait_transfers <= first:
        return job
    return dataclasses.replace(job, wait_transfers=job.wait_transfers + _PASS)


def _further(job: AnyJob, whole: EngineList, size: int) -> AnyJob:
    """Return a job whose stream is further behind, if it is computed."""
    if not isinstance(job, EngineJob) or job.weights_offset < len(whole.streams):
        return job
    return dataclasses.replace(job, weights_offset=job.weights_offset + size)
