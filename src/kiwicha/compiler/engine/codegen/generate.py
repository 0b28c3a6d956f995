"""From a plan to a list: jobs, transfers and weight streams, as the engine reads them."""

import dataclasses
from collections.abc import Iterable

from kiwicha.compiler.engine.codegen.brought_lists import with_brought_lists
from kiwicha.compiler.engine.codegen.division import list_ends
from kiwicha.compiler.engine.codegen.jobs import engine_job
from kiwicha.compiler.engine.codegen.moves import engine_move
from kiwicha.compiler.engine.codegen.recurrences import engine_recurrence
from kiwicha.compiler.engine.codegen.row_waits import with_row_waits
from kiwicha.compiler.engine.codegen.short_elements import engine_short_elements
from kiwicha.compiler.engine.codegen.streams import unit_stream, weight_stream
from kiwicha.compiler.engine.ir.engine_list import EngineList, PlannedTransfer
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.plan import (
    Compute,
    Job,
    Plan,
    PlannedMove,
    PlannedRecurrence,
    Transfer,
)
from kiwicha.compiler.engine.ir.product_operations import ComputedConvolution
from kiwicha.compiler.engine.ir.refusals import RefusedError, Troubles
from kiwicha.compiler.engine.ir.short_elements import ShortOperation
from kiwicha.compiler.engine.ir.window_operations import DepthwiseConvolution
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import TRANSFER_FLAG, EngineJob, EngineTransfer, TransferFlag
from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.contract.moves import AnyJob, EngineMove
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import EngineShortElements
from kiwicha.program.weight_streams import stream_shape

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

    def generate(self, plans: Iterable[Plan]) -> tuple[tuple[EngineList, ...], Troubles]:
        """Return the lists of plans, complete if there are no troubles."""
        lists = []
        refusals: dict[int, str] = {}
        for plan in plans:
            try:
                if plan not in self._known:
                    self._known[plan] = generate(plan, self._config)
                lists.append(self._known[plan])
            except RefusedError as error:
                refusals[error.position] = error.why
        if not refusals:
            try:
                lists = with_brought_lists(lists, self._config)
            except RefusedError as error:
                refusals[error.position] = error.why
        return tuple(lists), Troubles(refusals)


def generate(plan: Plan, config: Config) -> EngineList:
    """Return the lists of a region; no weight stream is coded.

    Parameters
    ----------
    plan : Plan
        How the region is done.
    config : Config
        With an engine.

    Raises
    ------
    RefusedError
        If a job takes too long, or there are too many for a list in the arena; names the layer.
    """
    macs = config.engine_macs
    first_layer = plan.region.first_layer
    jobs: list[AnyJob] = []
    transfers = _Transfers(plan)
    streams = bytearray()
    stream_places: dict[tuple[JobOperation, bool], tuple[int, int]] = {}
    same_streams: dict[bytes, tuple[int, int]] = {}
    computed: dict[int, int] = {}
    on_unit = {pair.unit for pair in plan.beside}
    by_rows = {pair.before for pair in plan.beside if pair.follows}
    by_rows |= {
        pair.consumer for pair in plan.beside if pair.is_paced and pair.consumer is not None
    }
    for number, (event, count) in enumerate(zip(plan.events, plan.waits, strict=True)):
        if isinstance(event, Transfer):
            transfers.add(event, count)
            continue
        weightless = _weightless(event, first_layer, plan)
        if weightless is not None:
            jobs.append(dataclasses.replace(weightless, wait_transfers=transfers.through(count)))
            continue
        assert isinstance(event, Compute)
        operation, is_unit = event.operation, number in on_unit
        if isinstance(operation, ComputedConvolution):
            computed[len(jobs)] = operation.matrix
        elif (operation, is_unit) not in stream_places:
            raw = _stream(event, macs, is_unit=is_unit)
            place = len(streams), len(raw)
            if operation.has_long_rows:
                # What is done in parts has the same weights in other geometries.
                place = same_streams.setdefault(raw, place)
            stream_places[operation, is_unit] = place
            streams += raw if place[0] == len(streams) else b""
        start, size = stream_places.get((operation, is_unit), (0, 0))
        geometry = event.geometry(plan.offsets)
        if number in by_rows:
            geometry = dataclasses.replace(geometry, is_by_rows=True)
        job = engine_job(operation, macs, first_layer, geometry, is_unit=is_unit)
        jobs.append(
            dataclasses.replace(
                job,
                wait_transfers=transfers.through(count),
                weights_offset=start,
                weights_bytes=size,
            )
        )
    behind = len(streams) + len(transfers.constants)
    for number, matrix in computed.items():
        jobs[number] = _with_computed_stream(jobs[number], macs, behind, matrix)
    found = EngineList(
        plan=plan,
        jobs=with_row_waits(plan, jobs),
        transfers=tuple(transfers.found),
        streams=bytes(streams),
        constants=bytes(transfers.constants),
        computed_bytes=_end_of_streams(jobs[number] for number in computed) - behind
        if computed
        else 0,
    )
    found = dataclasses.replace(found, ends=list_ends(found, config))
    if computed and found.ends:
        raise RefusedError(plan.region.position, "has more jobs than one list can hold")
    found.verify()
    return found


def _weightless(
    event: Job, first_layer: int, plan: Plan
) -> EngineMove | EngineRecurrence | EngineShortElements | None:
    """Return the job of an event if it has no weight stream; None if it has one."""
    layer = event.operation.position - first_layer
    if isinstance(event, PlannedMove):
        places = plan.offsets[event.source], plan.offsets[event.target]
        return engine_move(event.job, layer, *places)
    if isinstance(event, PlannedRecurrence):
        return engine_recurrence(event, layer, plan.offsets)
    if isinstance(event.operation, ShortOperation):
        return engine_short_elements(event.operation, layer, event.geometry(plan.offsets))
    return None


def _with_computed_stream(job: AnyJob, macs: int, behind: int, matrix: int) -> EngineJob:
    """Return a job that reads one of the streams which lie behind everything else of a list."""
    assert isinstance(job, EngineJob)
    size = stream_shape(job, macs).raw_bytes
    return dataclasses.replace(job, weights_offset=behind + matrix * size, weights_bytes=size)


def _end_of_streams(jobs: Iterable[AnyJob]) -> int:
    """Return where the last stream of some jobs ends."""
    own = (job for job in jobs if isinstance(job, EngineJob))
    return max(job.weights_offset + job.weights_bytes for job in own)


def _stream(event: Compute, macs: int, *, is_unit: bool) -> bytes:
    """Return the weight stream of a job."""
    if is_unit:
        assert isinstance(event.operation, DepthwiseConvolution)
        return unit_stream(event.operation)
    return weight_stream(event.operation, macs, event.input_pitch)


class _Transfers:
    """The transfers of a plan, and between them those that bring the tables of the converter.

    Parameters
    ----------
    plan : Plan
        How the region is done.
    """

    def __init__(self, plan: Plan) -> None:
        self.found: list[PlannedTransfer] = []
        self.constants = bytearray()
        self._plan = plan
        self._places: dict[bytes, int] = {}
        self._table = b""
        self._counts = [0]

    def through(self, count: int) -> int:
        """Return how many transfers there are up to the plan's last one of so many."""
        return self._counts[count]

    def add(self, event: Transfer, wait_jobs: int) -> None:
        """Add a transfer, behind its table if another one is in the converter."""
        table = self._plan.region.tables.get(event.tensor, b"")
        if table and table != self._table:
            self._load(table)
        scale = FLOAT_BYTES if table else 1
        size = scale * event.bytes
        constant = event.constant or self._plan.region.constants.get(event.tensor, b"")
        tensor, first = self._plan.region.places.get(event.tensor, (event.tensor, 0))
        first = self._place(constant) if constant else first
        transfer = EngineTransfer(
            dram_offset=first + scale * event.tensor_offset,
            scratchpad_address=self._plan.offsets[event.address.buffer] + event.address.offset,
            bytes=size | (TRANSFER_FLAG if event.is_store else 0),
            wait_jobs=wait_jobs,
            flags=TransferFlag.FLOAT if table else 0,
        )
        self.found.append(PlannedTransfer(None if constant else tensor, transfer))
        self._counts.append(len(self.found))

    def _load(self, table: bytes) -> None:
        """Add the transfer of a table."""
        self._table = table
        transfer = EngineTransfer(
            dram_offset=self._place(table),
            scratchpad_address=0,
            bytes=len(table),
            wait_jobs=0,
            flags=TransferFlag.TABLE,
        )
        self.found.append(PlannedTransfer(None, transfer))

    def _place(self, constant: bytes) -> int:
        """Return where a constant lies among the list's."""
        if constant not in self._places:
            self._places[constant] = len(self.constants)
            self.constants += constant
            self.constants += bytes(-len(constant) % ALIGNMENT_BYTES)
        return self._places[constant]
