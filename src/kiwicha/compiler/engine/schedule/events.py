"""From a choice for a region to jobs and transfers in order, and the buffers that they need."""

from collections.abc import Iterator, Mapping, Sequence

from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.plan import BufferAddress, Compute, Event, Transfer
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.cascade import Cascade, Choice, Room, Striping
from kiwicha.compiler.engine.schedule.stripes import Stripe, by_image
from kiwicha.compiler.memory.placement import Buffer
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["OrderedEvents"]


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
        inputs = [self._inputs(cascade, stripe) for stripe in found]
        is_streamed = cascade.output in self._choice.streamed
        last, count = cascade.operations[-1], len(cascade.operations)
        previous: int | None = None
        for number, stripe in enumerate(found):
            start = stripe[-1].first_output_row * self._region.output_row_bytes(last)
            if is_streamed:
                size = stripe[-1].output_rows * self._region.output_row_bytes(last)
                output = BufferAddress(
                    self._builder.buffer(f"stripe {number} of {cascade.output}", size)
                )
            else:
                output = BufferAddress(self._resident_buffer(cascade.output), start)
            own = [
                t for t in inputs[number][1] if number == 0 or striping.load_turn(t.tensor) == count
            ]
            following = inputs[number + 1][1] if number + 1 < len(found) else []
            for turn, jobs in enumerate(self._jobs(cascade, stripe, inputs[number][0], output)):
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
            if is_streamed:
                pixels = stripe[-1].output_rows * last.window.output_columns
                stored = pixels * last.output_channels
                self._builder.add(
                    Transfer(
                        tensor=cascade.output,
                        tensor_offset=start,
                        bytes=stored,
                        address=output,
                        is_store=True,
                    )
                )
                previous = output.buffer

    def _jobs(
        self,
        cascade: Cascade,
        stripe: tuple[Stripe, ...],
        inputs: Mapping[int, tuple[BufferAddress, int]],
        output: BufferAddress,
    ) -> list[list[Compute]]:
        """Return the jobs of a stripe, operation by operation: one or more for each image."""
        passed: dict[int, tuple[BufferAddress, int]] = {}
        jobs: list[list[Compute]] = []
        for operation, part in zip(cascade.operations, stripe, strict=True):
            row = self._region.input_row_bytes(operation)
            target, output_row = output, self._region.output_row_bytes(operation)
            if operation.output in cascade.passed:
                size = part.output_rows * output_row
                name = f"rows {part.first_output_row} on of {operation.output}"
                target = BufferAddress(self._builder.buffer(name, size))
                passed[operation.output] = target, part.first_output_row * output_row
            jobs.append([])
            for image in by_image(operation.window, part):
                sources = []
                for tensor in operation.inputs:
                    source, first_byte = passed[tensor] if tensor in passed else inputs[tensor]
                    is_broadcast = tensor in operation.broadcast_inputs
                    start = 0 if is_broadcast else image.first_input_row * row
                    sources.append(_behind(source, start - first_byte))
                first_row = (part.first_output_row, output_row)
                jobs[-1] += self._image_jobs(operation, image, sources, target, first_row)
        return jobs

    def _image_jobs(
        self,
        operation: Operation,
        image: Stripe,
        sources: Sequence[BufferAddress],
        target: BufferAddress,
        first_row: tuple[int, int],
    ) -> Iterator[Compute]:
        """Yield the jobs of a stripe within one image.

        Parameters
        ----------
        operation : Operation
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
    ) -> tuple[dict[int, tuple[BufferAddress, int]], list[Transfer]]:
        """Return the inputs of a stripe, and the transfers that bring them.

        Of each input the address of a byte of it, and which one that is.
        """
        addresses: dict[int, tuple[BufferAddress, int]] = {}
        loads = []
        for tensor in cascade.inputs:
            if tensor not in self._choice.streamed:
                addresses[tensor] = BufferAddress(self._resident_buffer(tensor)), 0
                continue
            starts, ends = cascade.input_bytes(tensor)
            first, count = stripe[-1].first_output_row, stripe[-1].output_rows
            start = int(starts[first]) // ALIGNMENT_BYTES * ALIGNMENT_BYTES
            end = int(ends[first + count - 1])
            buffer = self._builder.buffer(f"bytes {start} on of {tensor}", end - start)
            addresses[tensor] = BufferAddress(buffer), start
            loads.append(
                Transfer(
                    tensor=tensor,
                    tensor_offset=start,
                    bytes=end - start,
                    address=BufferAddress(buffer),
                    is_store=False,
                )
            )
        return addresses, loads


def _behind(address: BufferAddress, size: int) -> BufferAddress:
    return BufferAddress(address.buffer, address.offset + size)
