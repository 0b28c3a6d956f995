"""Parts of a kernel one after the other: how a convolution is done whose windows do not fit.

A window of many channels, or one that dilation makes wide, can need more of the input than the
scratchpad holds, and nearly all of it lies between its taps. Such a convolution is a region of its
own. Of each patch of its outputs every part of the kernel is a job, which adds to the sums that the
one before it has kept. Only the bytes that a part meets are loaded, beside the job before it. Parts
that lie outside the image for a whole patch have no job, so padding takes neither room nor time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.move_jobs import move_jobs
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, closes_gaps
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.plan import (
    MAX_REGION_JOBS,
    BufferAddress,
    Compute,
    PartOfRows,
    Plan,
    PlannedMove,
)
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import Convolution, LongConvolution
from kiwicha.compiler.engine.schedule.blocks.kernel_parts import (
    KernelPart,
    Met,
    Patch,
    met,
    series_of,
)
from kiwicha.compiler.engine.schedule.blocks.moved_rows import MovedRows
from kiwicha.compiler.engine.schedule.blocks.patchworks import Patchwork, patchworks
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.plans import plan_of_one
from kiwicha.contract.configs import Config

__all__ = ["partial_sums_plan"]

MOST_TRIED = 16
"""Patchworks, the fastest first, of which one must find places for its buffers."""


def partial_sums_plan(region: Region, config: Config) -> Plan | None:
    """Return a plan in parts of the kernel, about the fastest; None if there is none.

    Parameters
    ----------
    region : Region
        Of one operation, and a move that leaves out the gaps between pixels that it writes.
    config : Config
        With an engine.
    """
    operation, *others = region.operations
    whole = _whole(operation)
    if whole is None or any(not _closes(region, other) for other in others):
        return None
    if not region.is_streamable(region.operations[-1].output):
        return None
    found = sorted(patchworks(whole, config), key=lambda patchwork: patchwork.cycles)
    for patchwork in found[:MOST_TRIED]:
        plan = _Builder(region, patchwork).plan(config.scratchpad_bytes)
        if plan is not None:
            return plan
    return None


def _whole(operation: Operation) -> Convolution | None:
    """Return an operation as one convolution, None if it is none."""
    whole = operation.whole if isinstance(operation, LongConvolution) else operation
    if not isinstance(whole, Convolution) or len(whole.inputs) > 1:
        return None
    return None if whole.window.is_transposed else whole


def _closes(region: Region, other: Operation) -> bool:
    """Whether an operation only leaves out the gaps in what the first one writes."""
    is_next = other.inputs == (region.operations[0].output,) and len(region.operations) == 2
    return isinstance(other, MoveOperation) and closes_gaps(other) and is_next


@dataclass(frozen=True)
class _Step:
    """What is loaded for a patch, and the jobs that read it."""

    patch: Patch
    part: KernelPart
    met: Met
    operations: tuple[Convolution, ...]
    is_last: bool


class _Builder:
    """Makes the plan of a patchwork.

    Parameters
    ----------
    region : Region
        Of one operation.
    patchwork : Patchwork
        Its patches.
    """

    def __init__(self, region: Region, patchwork: Patchwork) -> None:
        self._region, self._patchwork = region, patchwork
        self._operation, *moves = region.operations
        self._moves = [move for move in moves if isinstance(move, MoveOperation)]
        self._window = patchwork.whole.window
        self._pitch = region.output_pitch(self._operation)
        self._builder = Builder()
        self._series: dict[tuple[range, tuple[int, ...]], list[Convolution]] = {}

    def plan(self, capacity: int) -> Plan | None:
        """Return the plan; None if buffers do not fit, or nothing of the image is met."""
        steps = list(self._steps())
        jobs = sum(len(step.operations) + step.is_last * len(self._moves) for step in steps)
        if not jobs or jobs > MAX_REGION_JOBS:
            return None
        sources = [self._load(steps[0])]
        target = stored = None
        for number, step in enumerate(steps):
            if number + 1 < len(steps):
                sources.append(self._load(steps[number + 1]))
            target = self._target(step.patch) if target is None else target
            self._compute(step, sources[number], target)
            if stored is not None:
                # It may still be on its way to the arena.
                self._builder.keep(stored)
            if step.is_last:
                stored = self._store(step.patch, target)
                target = None
        return plan_of_one(self._region, self._builder, jobs, capacity)

    def _steps(self) -> Iterator[_Step]:
        last = self._patchwork.whole.output_channels
        for patch in self._patchwork.patches():
            found = [(number, met(self._window, p, patch)) for number, p in enumerate(self._parts)]
            inside = [(number, some) for number, some in found if some is not None]
            if not inside:
                inside = [(0, self._nothing(patch))]
            numbers = tuple(number for number, _ in inside)
            operations = iter(self._operations(patch.channels, numbers))
            for number, some in inside:
                part = self._parts[number]
                own = tuple(next(operations) for _ in part.chunks)
                is_last = patch.channels.stop == last and number == numbers[-1]
                yield _Step(patch, part, some, own, is_last)

    @property
    def _parts(self) -> tuple[KernelPart, ...]:
        return self._patchwork.parts

    def _nothing(self, patch: Patch) -> Met:
        """Return what is loaded for a patch that meets padding only: a row that is not read."""
        return Met(range(1), len(patch.rows), range(1))

    def _operations(self, channels: range, numbers: tuple[int, ...]) -> list[Convolution]:
        key = channels, numbers
        if key not in self._series:
            chunks = [chunk for number in numbers for chunk in self._parts[number].chunks]
            self._series[key] = series_of(self._patchwork.whole, channels, chunks)
        return self._series[key]

    def _loaded(self, step: _Step) -> MovedRows:
        """Return how the inputs of a step lie."""
        window, found = self._window, step.met
        channels = step.part.channels
        height = window.input_rows // window.images
        row = step.patch.image * height + found.rows.start
        pixel = row * window.input_columns + found.columns.start
        return MovedRows(
            first=pixel * window.channels + channels.start,
            step=found.rows.step * window.input_columns * window.channels,
            bytes=(len(found.columns) - 1) * window.channels + len(channels),
            count=len(found.rows),
        )

    def _load(self, step: _Step) -> int:
        """Add the transfers of a step, and return their buffer."""
        (source,) = self._operation.inputs
        place = self._loaded(step)
        name = f"parts of {source} from byte {place.first} on"
        buffer = self._builder.buffer(name, place.size)
        for transfer in place.transfers(source, buffer, is_store=False):
            self._builder.add(transfer)
        return buffer

    def _stored(self, patch: Patch) -> MovedRows:
        """Return how the pixels of a patch lie."""
        window, pitch = self._window, self._pitch
        row = patch.image * window.image_rows + patch.rows.start
        channels = self._patchwork.whole.output_channels
        return MovedRows(
            first=(row * window.output_columns + patch.columns.start) * pitch,
            step=window.output_columns * pitch,
            # A single pixel has bytes behind it that are not the tensor's.
            bytes=(len(patch.columns) - 1) * pitch + channels,
            count=len(patch.rows),
        )

    def _store(self, patch: Patch, target: int) -> int:
        """Add the transfers of a patch's outputs, without gaps, and return their buffer."""
        output = self._region.operations[-1].output
        written = place = self._stored(patch)
        for move in self._moves:
            channels = self._patchwork.whole.output_channels
            place = MovedRows(
                first=written.first // self._pitch * channels,
                step=self._window.output_columns * channels,
                bytes=len(patch.columns) * channels,
                count=len(patch.rows),
            )
            loops = (
                Loop(place.count, written.pitch, place.pitch),
                Loop(len(patch.columns), self._pitch, channels),
            )
            ordered, piece = in_order(loops, channels)
            copy = StridedCopy(move.inputs[0], written.lead, place.lead, ordered, piece)
            name = f"sums of {output} from byte {place.first} on"
            dense = self._builder.buffer(name, place.size)
            (job,) = move_jobs(copy)
            self._builder.add(PlannedMove(operation=move, source=target, target=dense, job=job))
            target = dense
        for transfer in place.transfers(output, target, is_store=True):
            self._builder.add(transfer)
        return target

    def _target(self, patch: Patch) -> int:
        """Return a buffer for the pixels of a patch."""
        place = self._stored(patch)
        name = f"sums of {self._operation.output} from byte {place.first} on"
        return self._builder.buffer(name, padded(place.size))

    def _compute(self, step: _Step, source: int, target: int) -> None:
        """Add the jobs of a step."""
        patch, part = step.patch, step.part
        loaded, stored = self._loaded(step), self._stored(patch)
        start = stored.lead + patch.channels.start - patch.columns.start * self._pitch
        for operation, chunk in zip(step.operations, part.chunks, strict=True):
            first = chunk[2].start - part.channels.start
            self._builder.add(
                Compute(
                    operation=operation,
                    inputs=(BufferAddress(source, loaded.lead + first),),
                    input_pitch=len(part.channels),
                    first_input_row=step.met.above,
                    input_rows=len(step.met.rows),
                    output=BufferAddress(target, start),
                    output_pitch=self._pitch,
                    first_output_row=0,
                    output_rows=len(patch.rows),
                    output_row_bytes=padded(stored.pitch),
                    columns=patch.columns,
                    part=PartOfRows(step.met.columns.start, len(step.met.columns), loaded.pitch),
                )
            )
