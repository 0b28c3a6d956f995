"""From a plan to a list: jobs, transfers and weight streams, as the engine reads them."""

import dataclasses
from collections.abc import Iterable

from kiwicha.compiler.engine.codegen.jobs import engine_job
from kiwicha.compiler.engine.codegen.streams import weight_stream
from kiwicha.compiler.engine.ir.engine_list import EngineList, PlannedTransfer
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.plan import Plan, Transfer
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import TRANSFER_FLAG, EngineJob, EngineTransfer

__all__ = ["Generator", "generate"]


class Generator:
    """Generates lists, each only once.

    Parameters
    ----------
    config : Config
        What they will run on.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[Plan, EngineList] = {}

    def generate(self, plans: Iterable[Plan]) -> tuple[EngineList, ...]:
        """Return the lists of plans."""
        lists = []
        for plan in plans:
            if plan not in self._known:
                self._known[plan] = generate(plan, self._config)
            lists.append(self._known[plan])
        return tuple(lists)


def generate(plan: Plan, config: Config) -> EngineList:
    """Return the list of a region; no weight stream is coded.

    Parameters
    ----------
    plan : Plan
        How the region is done.
    config : Config
        With an engine.
    """
    macs = config.engine_macs
    first_layer = plan.region.first_layer
    jobs: list[EngineJob] = []
    transfers: list[PlannedTransfer] = []
    streams = bytearray()
    stream_places: dict[JobOperation, tuple[int, int]] = {}
    for event, count in zip(plan.events, plan.waits, strict=True):
        if isinstance(event, Transfer):
            transfers.append(_transfer(event, plan, count))
            continue
        operation = event.operation
        if operation not in stream_places:
            raw = weight_stream(operation, macs, event.input_pitch)
            stream_places[operation] = len(streams), len(raw)
            streams += raw
        start, size = stream_places[operation]
        job = engine_job(operation, macs, first_layer, event.geometry(plan.offsets))
        jobs.append(
            dataclasses.replace(job, wait_transfers=count, weights_offset=start, weights_bytes=size)
        )
    found = EngineList(
        plan=plan, jobs=tuple(jobs), transfers=tuple(transfers), streams=bytes(streams)
    )
    found.verify()
    return found


def _transfer(event: Transfer, plan: Plan, wait_jobs: int) -> PlannedTransfer:
    address = plan.offsets[event.address.buffer] + event.address.offset
    return PlannedTransfer(
        event.tensor,
        EngineTransfer(
            dram_offset=event.tensor_offset,
            scratchpad_address=address,
            bytes=event.bytes | (TRANSFER_FLAG if event.is_store else 0),
            wait_jobs=wait_jobs,
            reserved=0,
        ),
    )
