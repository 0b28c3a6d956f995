"""From the layers of a run to jobs, transfers and a plan of the scratchpad.

`engine_choice` decides which tensors stay in the scratchpad; the others lie in the arena, or only
stripes of them ever exist. The transfer of one stripe runs beside the arithmetic of another.
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.codegen.jobs import Part, engine_job, weight_stream
from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.ir.layers import EngineLayer
from kiwicha.compiler.engine.ir.run import MAX_LIST_CYCLES, Run, TooLongError, TooSlowError
from kiwicha.compiler.engine.schedule.cascade import Choice
from kiwicha.compiler.engine.schedule.events import Compute, Event, Transfer, waits
from kiwicha.compiler.engine.schedule.plan import Plan
from kiwicha.compiler.engine.schedule.residency import Chooser
from kiwicha.compiler.memory.placement import Buffer, place, top_of
from kiwicha.contract.engine import MAX_JOBS, TRANSFER_FLAG, EngineJob, EngineTransfer

__all__ = ["PlannedTransfer", "Schedule", "schedule"]

_SHRINK = 32
"""Where a plan fails for gaps, it is tried again with this much less: capacity / 32."""


@dataclass(frozen=True)
class PlannedTransfer:
    """A transfer, its DRAM offset relative to a tensor."""

    tensor: int
    transfer: EngineTransfer


@dataclass(frozen=True, eq=False)
class Schedule:
    """A run in the engine's terms.

    Parameters
    ----------
    run : Run
        The layers.
    jobs : tuple of EngineJob
        In order; `weights_offset` counts from the first stream.
    transfers : tuple of PlannedTransfer
        In order.
    streams : bytes
        Weight streams.
    streamed : tuple of int
        Tensors that move between arena and scratchpad in stripes.
    passed : tuple of int
        Tensors of which only stripes ever exist.
    buffers, offsets : tuple
        The plan of the scratchpad, by number of the event.
    events : tuple of Event
        Jobs and transfers in one order.
    """

    run: Run
    jobs: tuple[EngineJob, ...]
    transfers: tuple[PlannedTransfer, ...]
    streams: bytes
    streamed: tuple[int, ...]
    passed: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    offsets: tuple[int, ...]
    events: tuple[Event, ...]

    @property
    def arena_tensors(self) -> list[int]:
        """Tensors that lie in the arena while it runs."""
        return sorted({planned.tensor for planned in self.transfers})

    @property
    def scratchpad_bytes(self) -> int:
        """Bytes of the scratchpad in use."""
        ends = (o + b.aligned_bytes for o, b in zip(self.offsets, self.buffers, strict=True))
        return max(ends, default=0)

    def image(self, tensors: Mapping[int, int]) -> bytes:
        """Return jobs, transfers and weight streams, given the offsets of tensors in the arena."""
        head = len(self.jobs) * EngineJob.size_bytes()
        head += len(self.transfers) * EngineTransfer.size_bytes()
        parts = [
            dataclasses.replace(job, weights_offset=head + job.weights_offset).pack()
            for job in self.jobs
        ]
        for planned in self.transfers:
            offset = tensors[planned.tensor] + planned.transfer.dram_offset
            parts.append(dataclasses.replace(planned.transfer, dram_offset=offset).pack())
        return b"".join([*parts, self.streams])


def schedule(run: Run, macs: int, scratchpad_bytes: int, requantizer_cycles: int = 1) -> Schedule:
    """Return a schedule of a run.

    Parameters
    ----------
    run : Run
        The layers.
    macs : int
        Products per cycle.
    scratchpad_bytes : int
        Capacity.
    requantizer_cycles : int
        As `kiwicha.contract.cfu.Config.requantizer_cycles`.

    Raises
    ------
    DoesNotFitError
        If a layer does not fit; names it.
    TooLongError
        If there are too many jobs or cycles; names layers at which to cut.
    TooSlowError
        If a layer alone takes too many cycles; names it.
    """
    chooser = Chooser(run, macs)
    spared: Counter[int] = Counter()
    while True:
        choice = chooser.choose(scratchpad_bytes, spared)
        if sum(stage.jobs for stage in choice.stages) > MAX_JOBS:
            raise TooLongError(_cuts(choice, [stage.jobs for stage in choice.stages], MAX_JOBS))
        plan = Plan(run, choice)
        buffers = plan.buffers
        offsets = place(buffers, capacity=scratchpad_bytes)
        if top_of(buffers, offsets) <= scratchpad_bytes:
            found = _finished(run, macs, choice, plan.events, buffers, offsets)
            _require_in_time(found, choice, macs, requantizer_cycles)
            return found
        for number in _crowded(run, plan.events, buffers, offsets, scratchpad_bytes):
            spared[number] += scratchpad_bytes // _SHRINK


def _crowded(
    run: Run,
    events: Sequence[Event],
    buffers: Sequence[Buffer],
    offsets: Sequence[int],
    scratchpad_bytes: int,
) -> set[int]:
    """Return the numbers of the layers during which a buffer lies beyond the scratchpad."""
    numbers = {
        part: number
        for number, layer in enumerate(run.layers)
        for part in (layer, *(patch.layer for patch in layer.patches))
    }
    found = set()
    for buffer, offset in zip(buffers, offsets, strict=True):
        if offset + buffer.aligned_bytes > scratchpad_bytes:
            during = events[buffer.first : buffer.last + 1]
            found |= {numbers[event.layer] for event in during if isinstance(event, Compute)}
    return found


def _finished(
    run: Run,
    macs: int,
    choice: Choice,
    events: Sequence[Event],
    buffers: Sequence[Buffer],
    offsets: Sequence[int],
) -> Schedule:
    counts = waits(events, offsets, [buffer.aligned_bytes for buffer in buffers])
    jobs: list[EngineJob] = []
    transfers: list[PlannedTransfer] = []
    streams = bytearray()
    stream_places: dict[EngineLayer, tuple[int, int]] = {}
    for event, count in zip(events, counts, strict=True):
        if isinstance(event, Transfer):
            transfers.append(_transfer(event, offsets, count))
            continue
        if event.layer not in stream_places:
            raw = weight_stream(event.layer, macs, event.input_pitch)
            stream_places[event.layer] = len(streams), len(raw)
            streams += raw
        start, size = stream_places[event.layer]
        job = engine_job(event.layer, macs, run.layers[0].position, _part(event, offsets))
        jobs.append(
            dataclasses.replace(job, wait_transfers=count, weights_offset=start, weights_bytes=size)
        )
    return Schedule(
        run,
        tuple(jobs),
        tuple(transfers),
        bytes(streams),
        tuple(sorted(choice.streamed)),
        tuple(sorted(tensor for stage in choice.stages for tensor in stage.cascade.passed)),
        tuple(buffers),
        tuple(offsets),
        tuple(events),
    )


def _require_in_time(found: Schedule, choice: Choice, macs: int, requantizer_cycles: int) -> None:
    """Refuse a list that the watchdog could end."""
    transfers = [planned.transfer for planned in found.transfers]
    total, jobs = predict_list(found.jobs, transfers, macs, requantizer_cycles)
    if total <= MAX_LIST_CYCLES:
        return
    last_jobs = itertools.accumulate(stage.jobs for stage in choice.stages)
    ends = [0, *(jobs[count - 1].end for count in last_jobs)]
    cycles = [end - start for start, end in itertools.pairwise(ends)]
    cuts = _cuts(choice, cycles, MAX_LIST_CYCLES)
    for stage, taken in zip(choice.stages, cycles, strict=True):
        if taken > MAX_LIST_CYCLES:
            cuts += [layer.position for layer in stage.cascade.layers[1:]]
    if not cuts:
        raise TooSlowError(choice.stages[-1].cascade.layers[0].position)
    raise TooLongError(cuts)


def _cuts(choice: Choice, sizes: Sequence[int], limit: int) -> list[int]:
    """Return where a list is to be cut, given what each cascade adds to it: between cascades."""
    cuts = []
    total = 0
    for number, (stage, size) in enumerate(zip(choice.stages, sizes, strict=True)):
        total += size
        # Between the cuts the choice can become another one, of more.
        if total > limit - limit // 8 and number:
            cuts.append(stage.cascade.layers[0].position)
            total = size
    return cuts


def _transfer(event: Transfer, offsets: Sequence[int], wait_jobs: int) -> PlannedTransfer:
    return PlannedTransfer(
        event.tensor,
        EngineTransfer(
            dram_offset=event.tensor_offset,
            scratchpad_address=offsets[event.place.buffer] + event.place.offset,
            bytes=event.bytes | (TRANSFER_FLAG if event.is_store else 0),
            wait_jobs=wait_jobs,
            reserved=0,
        ),
    )


def _part(event: Compute, offsets: Sequence[int]) -> Part:
    return Part(
        tuple(offsets[place.buffer] + place.offset for place in event.inputs),
        event.input_pitch,
        event.first_input_row,
        event.input_rows,
        offsets[event.output.buffer] + event.output.offset,
        event.output_pitch,
        event.first_output_row,
        event.output_rows,
        event.column,
    )
