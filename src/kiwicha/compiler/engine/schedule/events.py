"""From a choice for a region to jobs and transfers in order, and the buffers that they need."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.move_jobs import move_jobs
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import ComputeOperation
from kiwicha.compiler.engine.ir.plan import (
    BufferAddress,
    Compute,
    Event,
    Job,
    PlannedMove,
    Transfer,
)
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.stripes.cascade import Cascade, Choice, Room, Striping
from kiwicha.compiler.engine.schedule.stripes.readings import Reading
from kiwicha.compiler.engine.schedule.stripes.stripes import Stripe, by_image
from kiwicha.compiler.engine.schedule.stripes.writings import Writing
from kiwicha.compiler.memory.placement import Buffer

__all__ = ["OrderedEvents"]

_EARLIER_EVENTS = 8
"""With more, loads take the memory port from the weights of the first jobs."""


@dataclass(frozen=True)
class _Source:
    """Where an input of a stripe lies: some byte of it, or what was read of it."""

    address: BufferAddress
    first_byte: int = 0
    reading: Reading | None = None

    def byte(self, offset: int) -> BufferAddress:
        """Return where a byte of the input lies."""
        return _behind(self.address, offset - self.first_byte)


@dataclass(frozen=True)
class _Target:
    """Where the first row of what a stripe writes goes, and how it lies there for a store."""

    address: BufferAddress
    writing: Writing | None = None


class OrderedEvents:
    """Jobs and transfers of a choice, in the order in which they could be executed one by one.

    Parameters
    ----------
    region : Region
        The operations.
    choice : Choice
        How they are done.
    """

    def __init__(self, region: Region, choice: Choice) -> None:
        self._region = region
        self._choice = choice
        self._builder = Builder()
        self._resident: dict[int, int] = {}
        self._loaded: set[int] = set()
        cascades = [striping.cascade for striping in choice.stripings]
        outside = {tensor for c in cascades for tensor in (*c.inputs, c.output)}
        resident = outside - choice.streamed
        hosts = {cascade.output: cascade.host(resident) for cascade in cascades}
        self._owners = {tensor: host for tensor, host in hosts.items() if host is not None}
        for striping in choice.stripings:
            self._load_resident(striping.cascade)
            self._add(striping)
            self._store_resident(striping.cascade)

    @property
    def events(self) -> list[Event]:
        """Transfers and jobs in one order."""
        return self._builder.events

    @property
    def buffers(self) -> list[Buffer]:
        """The buffers they need."""
        return self._builder.buffers()

    @property
    def early_buffers(self) -> list[Buffer]:
        """The buffers they need if whole tensors may be loaded some events before they are read.

        Else a load waits for the jobs that need what lies in its place before.
        """
        return [
            dataclasses.replace(buffer, first=max(buffer.first - _EARLIER_EVENTS, 0))
            if number in self._loaded
            else buffer
            for number, buffer in enumerate(self.buffers)
        ]

    def _resident_buffer(self, tensor: int) -> int:
        while tensor in self._owners:
            tensor = self._owners[tensor]
        if tensor not in self._resident:
            size = self._region.tensor_bytes(tensor)
            self._resident[tensor] = self._builder.buffer(f"tensor {tensor}", size)
        return self._resident[tensor]

    def _load_resident(self, cascade: Cascade) -> None:
        for tensor in cascade.inputs:
            is_new = self._region.uses(tensor)[0] >= cascade.first and tensor in self._region.loads
            if is_new and tensor not in self._choice.streamed:
                address = BufferAddress(self._resident_buffer(tensor))
                self._loaded.add(address.buffer)
                size = self._region.tensor_bytes(tensor)
                self._builder.add(
                    Transfer(
                        tensor=tensor, tensor_offset=0, bytes=size, address=address, is_store=False
                    )
                )

    def _store_resident(self, cascade: Cascade) -> None:
        tensor, operation = cascade.output, cascade.operations[-1]
        if tensor in self._region.stores and tensor not in self._choice.streamed:
            size = operation.window.output_pixels * operation.output_channels
            address = BufferAddress(self._resident_buffer(tensor))
            self._builder.add(
                Transfer(tensor=tensor, tensor_offset=0, bytes=size, address=address, is_store=True)
            )

    def _add(self, striping: Striping) -> None:
        """Add the jobs of a cascade, stripe by stripe, and their transfers."""
        cascade = striping.cascade
        found = cascade.rows.stripes(striping.height)
        read = cascade.rows.stripes(striping.height * striping.loads_for)
        inputs = [self._inputs(cascade, group) for group in read]
        written = cascade.rows.stripes(striping.height * striping.stores_of)
        count = len(cascade.operations)
        previous: int | None = None
        for number, stripe in enumerate(found):
            group, place = divmod(number, striping.loads_for)
            if number % striping.stores_of == 0:
                output = self._target(cascade, written[number // striping.stores_of][-1], number)
            own = [
                t
                for t in inputs[group][1]
                if place == 0 and (number == 0 or striping.load_turn(t.tensor) == count)
            ]
            is_last = place == striping.loads_for - 1 and group + 1 < len(read)
            following = inputs[group + 1][1] if is_last else []
            for turn, jobs in enumerate(self._jobs(cascade, stripe, inputs[group][0], output)):
                loads = [load for load in following if striping.load_turn(load.tensor) == turn]
                for load in own + loads:
                    self._builder.add(load)
                own = []
                for job in jobs:
                    self._builder.add(job)
                is_short = striping.room is Room.STORE or (
                    striping.room is Room.OPERATION and turn > 0
                )
                if previous is not None and not is_short:
                    # It may still be on its way to the arena.
                    self._builder.keep(previous)
            is_stored = (number + 1) % striping.stores_of == 0 or number + 1 == len(found)
            if output.writing is not None and is_stored:
                self._store(cascade.output, output.address.buffer, output.writing)
                previous = output.address.buffer

    def _target(self, cascade: Cascade, part: Stripe, number: int) -> _Target:
        """Return where the output of a stripe goes, or that of several which are stored together.

        ``number`` is that of the first one.
        """
        last = cascade.operations[-1]
        row_bytes = self._region.output_row_bytes(last)
        if cascade.output not in self._choice.streamed:
            start = part.first_output_row * row_bytes
            return _Target(BufferAddress(self._resident_buffer(cascade.output), start))
        writing = Writing.of(last, row_bytes, part)
        size = writing.pieces[0].place + part.output_rows * row_bytes
        name = f"stripe {number} of {cascade.output}"
        buffer = self._builder.buffer(name, max(size, writing.bytes))
        return _Target(BufferAddress(buffer, writing.pieces[0].place), writing)

    def _store(self, tensor: int, buffer: int, writing: Writing) -> None:
        """Add the stores of what a stripe wrote."""
        for piece in writing.pieces:
            self._builder.add(
                Transfer(
                    tensor=tensor,
                    tensor_offset=piece.first,
                    bytes=piece.bytes,
                    address=BufferAddress(buffer, piece.place),
                    is_store=True,
                )
            )

    def _jobs(
        self,
        cascade: Cascade,
        stripe: tuple[Stripe, ...],
        inputs: Mapping[int, _Source],
        output: _Target,
    ) -> list[list[Job]]:
        """Return the jobs of a stripe, operation by operation: one or more for each image."""
        sources = dict(inputs)
        jobs: list[list[Job]] = []
        for operation, part in zip(cascade.operations, stripe, strict=True):
            goal, output_row = output, self._region.output_row_bytes(operation)
            if operation.output in cascade.passed:
                size = part.output_rows * output_row
                name = f"rows {part.first_output_row} on of {operation.output}"
                goal = _Target(BufferAddress(self._builder.buffer(name, size)))
                first_byte = part.first_output_row * output_row
                sources[operation.output] = _Source(goal.address, first_byte)
            if isinstance(operation, MoveOperation):
                jobs.append(list(self._moves(cascade, operation, part, sources, goal)))
                continue
            assert isinstance(operation, ComputeOperation)
            jobs.append([])
            for image in by_image(operation.window, part):
                addresses = []
                for tensor in operation.inputs:
                    row = self._region.input_row_bytes(operation, tensor)
                    is_broadcast = tensor in operation.broadcast_inputs
                    start = 0 if is_broadcast else image.first_input_row * row
                    if tensor in operation.pixel_inputs:
                        start = image.first_output_row * row
                    addresses.append(sources[tensor].byte(start))
                first_row = (part.first_output_row, output_row)
                jobs[-1] += self._image_jobs(operation, image, addresses, goal.address, first_row)
        return jobs

    def _moves(
        self,
        cascade: Cascade,
        operation: MoveOperation,
        part: Stripe,
        sources: Mapping[int, _Source],
        target: _Target,
    ) -> Iterator[PlannedMove]:
        """Yield the jobs of a stripe of a move, whose first row goes to ``target``."""
        first_byte = part.first_output_row * self._region.output_row_bytes(operation)
        buffer = target.address.buffer
        for copy in cascade.copies(operation, part, self._choice.streamed):
            if copy.source is None:
                read, address = copy, BufferAddress(self._builder.fill(copy.fill))
            else:
                source = sources[copy.source]
                read = copy if source.reading is None else source.reading.in_buffer(copy)
                address = source.byte(read.source_start)
            if target.writing is None:
                start = target.address.offset + read.target_start - first_byte
                there = dataclasses.replace(read, target_start=start)
            else:
                there = target.writing.in_buffer(read)
            for job in move_jobs(dataclasses.replace(there, source_start=address.offset)):
                yield PlannedMove(
                    operation=operation, source=address.buffer, target=buffer, job=job
                )

    def _image_jobs(
        self,
        operation: ComputeOperation,
        image: Stripe,
        sources: Sequence[BufferAddress],
        target: BufferAddress,
        first_row: tuple[int, int],
    ) -> Iterator[Compute]:
        """Yield the jobs of a stripe within one image.

        Parameters
        ----------
        operation : ComputeOperation
            What they compute.
        image : Stripe
            Its rows, in rows of all images.
        sources : sequence of BufferAddress
            The stripe's first input row of each input.
        target : BufferAddress
            Where the first row of the whole stripe goes.
        first_row : tuple of int
            Which row that is, in rows of all images; and the bytes of a row.
        """
        window = operation.window
        number = image.first_output_row * window.images // window.output_rows
        rows_above = number * window.input_rows // window.images
        rows_done = number * window.output_rows // window.images
        stripe_row, row_bytes = first_row
        for piece in operation.within(image.first_output_row - rows_done, image.output_rows):
            row = rows_done - stripe_row + piece.rows.start
            yield Compute(
                operation=piece.operation,
                inputs=tuple(_behind(source, piece.first_input_channel) for source in sources),
                input_pitch=self._region.input_pitch(operation),
                first_input_row=image.first_input_row - rows_above,
                input_rows=image.input_rows,
                output=_behind(target, row * row_bytes + piece.first_output_channel),
                output_pitch=self._region.output_pitch(operation),
                first_output_row=piece.rows.start // piece.rows.step,
                output_rows=len(piece.rows),
                output_row_bytes=row_bytes * piece.rows.step,
                columns=piece.columns,
            )

    def _inputs(
        self, cascade: Cascade, stripe: tuple[Stripe, ...]
    ) -> tuple[dict[int, _Source], list[Transfer]]:
        """Return the inputs of a stripe, and the transfers that bring them."""
        sources: dict[int, _Source] = {}
        loads = []
        for tensor in cascade.inputs:
            if tensor not in self._choice.streamed:
                sources[tensor] = _Source(BufferAddress(self._resident_buffer(tensor)))
                continue
            reading = cascade.reading(tensor, stripe)
            first = reading.pieces[0].first
            buffer = self._builder.buffer(f"bytes {first} on of {tensor}", reading.bytes)
            sources[tensor] = _Source(BufferAddress(buffer), first)
            if reading.is_in_places:
                sources[tensor] = _Source(BufferAddress(buffer), reading=reading)
            loads += [
                Transfer(
                    tensor=tensor,
                    tensor_offset=piece.first,
                    bytes=piece.bytes,
                    address=BufferAddress(buffer, piece.place),
                    is_store=False,
                )
                for piece in reading.pieces
            ]
        return sources, loads


def _behind(address: BufferAddress, size: int) -> BufferAddress:
    return BufferAddress(address.buffer, address.offset + size)
