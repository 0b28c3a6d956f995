"""A choice for a run, worked out: events and buffers."""

from collections.abc import Mapping

from kiwicha.compiler.engine.ir.run import Run
from kiwicha.compiler.engine.schedule.cascade import Cascade, Choice, Stage
from kiwicha.compiler.engine.schedule.events import Compute, Event, Place, Transfer
from kiwicha.compiler.engine.schedule.stripes import Stripe, by_image
from kiwicha.compiler.memory.placement import Buffer
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["Plan"]


class _Builder:
    """Events and the buffers they need."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._kept_until: dict[int, int] = {}

    def buffer(self, name: str, size: int) -> int:
        """Return the number of a new buffer."""
        self._names.append(name)
        self._sizes.append(size)
        return len(self._names) - 1

    def add(self, event: Event) -> None:
        """Append an event."""
        self.events.append(event)
        for place, end in event.read_ends if isinstance(event, Compute) else ():
            self._sizes[place.buffer] = max(self._sizes[place.buffer], end)

    def keep(self, buffer: int) -> None:
        """Let nothing that the last event needs take a buffer's place."""
        self._kept_until[buffer] = len(self.events) - 1

    def buffers(self) -> list[Buffer]:
        """Return all buffers with the first and last event that needs each."""
        first: dict[int, int] = {}
        last = dict(self._kept_until)
        for number, event in enumerate(self.events):
            for buffer in event.reads | event.writes:
                first.setdefault(buffer, number)
                last[buffer] = max(last.get(buffer, 0), number)
        return [
            Buffer(name, size, first[number], last[number])
            for number, (name, size) in enumerate(zip(self._names, self._sizes, strict=True))
        ]


class Plan:
    """A choice, worked out.

    Parameters
    ----------
    run : Run
        The layers.
    choice : Choice
        How they are done.
    """

    def __init__(self, run: Run, choice: Choice) -> None:
        self._run = run
        self._choice = choice
        self._builder = _Builder()
        self._resident: dict[int, int] = {}
        cascades = [stage.cascade for stage in choice.stages]
        outside = {tensor for c in cascades for tensor in (*c.inputs, c.output)}
        resident = outside - choice.streamed
        hosts = {cascade.output: cascade.host(resident) for cascade in cascades}
        self._owners = {tensor: host for tensor, host in hosts.items() if host is not None}
        for stage in choice.stages:
            self._load_resident(stage.cascade)
            self._add(stage)
            self._store_resident(stage.cascade)

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
            size = self._run.tensor_bytes(tensor)
            self._resident[tensor] = self._builder.buffer(f"tensor {tensor}", size)
        return self._resident[tensor]

    def _load_resident(self, cascade: Cascade) -> None:
        for tensor in cascade.inputs:
            is_new = self._run.uses(tensor)[0] >= cascade.first and tensor in self._run.loads
            if is_new and tensor not in self._choice.streamed:
                place = Place(self._resident_buffer(tensor))
                size = self._run.tensor_bytes(tensor)
                self._builder.add(Transfer(tensor, 0, size, place, False))

    def _store_resident(self, cascade: Cascade) -> None:
        tensor, layer = cascade.output, cascade.layers[-1]
        if tensor in self._run.stores and tensor not in self._choice.streamed:
            size = layer.window.output_pixels * layer.output_channels
            place = Place(self._resident_buffer(tensor))
            self._builder.add(Transfer(tensor, 0, size, place, True))

    def _add(self, stage: Stage) -> None:
        """Add the jobs of a cascade, stripe by stripe, and their transfers."""
        cascade = stage.cascade
        found = cascade.stripes(stage.height)
        inputs = [self._inputs(cascade, stripe) for stripe in found]
        is_streamed = cascade.output in self._choice.streamed
        last, count = cascade.layers[-1], len(cascade.layers)
        previous: int | None = None
        for number, stripe in enumerate(found):
            start = stripe[-1].first_output_row * self._run.output_row_bytes(last)
            if is_streamed:
                size = stripe[-1].output_rows * self._run.output_row_bytes(last)
                output = Place(self._builder.buffer(f"stripe {number} of {cascade.output}", size))
            else:
                output = Place(self._resident_buffer(cascade.output), start)
            own = [
                t for t in inputs[number][1] if number == 0 or stage.load_step(t.tensor) == count
            ]
            following = inputs[number + 1][1] if number + 1 < len(found) else []
            for step, jobs in enumerate(self._jobs(cascade, stripe, inputs[number][0], output)):
                loads = [load for load in following if stage.load_step(load.tensor) == step]
                for load in own + loads:
                    self._builder.add(load)
                own = []
                for job in jobs:
                    self._builder.add(job)
                if previous is not None and (step == 0 or stage.keeps_output):
                    # It may still be on its way to the arena.
                    self._builder.keep(previous)
            if is_streamed:
                pixels = stripe[-1].output_rows * last.window.output_columns
                stored = pixels * last.output_channels
                self._builder.add(Transfer(cascade.output, start, stored, output, True))
                previous = output.buffer

    def _jobs(
        self,
        cascade: Cascade,
        stripe: tuple[Stripe, ...],
        inputs: Mapping[int, tuple[Place, int]],
        output: Place,
    ) -> list[list[Compute]]:
        """Return the jobs of a stripe, layer by layer; a layer has one or more for each image."""
        passed: dict[int, tuple[Place, int]] = {}
        jobs: list[list[Compute]] = []
        for layer, part in zip(cascade.layers, stripe, strict=True):
            row = self._run.input_row_bytes(layer)
            target, output_row = output, self._run.output_row_bytes(layer)
            if layer.output in cascade.passed:
                size = part.output_rows * output_row
                name = f"rows {part.first_output_row} on of {layer.output}"
                target = Place(self._builder.buffer(name, size))
                passed[layer.output] = target, part.first_output_row * output_row
            jobs.append([])
            for image in by_image(layer.window, part):
                places = []
                for tensor in layer.inputs:
                    place, first_byte = passed[tensor] if tensor in passed else inputs[tensor]
                    start = 0 if tensor in layer.whole_inputs else image.first_input_row * row
                    places.append(Place(place.buffer, place.offset + start - first_byte))
                number = image.first_output_row * layer.window.images // layer.window.output_rows
                above = number * layer.window.input_rows // layer.window.images
                done = number * layer.window.output_rows // layer.window.images
                skipped = done - part.first_output_row
                jobs[-1] += [
                    Compute(
                        patch.layer,
                        tuple(Place(p.buffer, p.offset + patch.first_channel) for p in places),
                        self._run.input_pitch(layer),
                        image.first_input_row - above,
                        image.input_rows,
                        Place(
                            target.buffer,
                            target.offset
                            + (patch.rows.start + skipped) * output_row
                            + patch.first_output,
                        ),
                        self._run.output_pitch(layer),
                        patch.rows.start,
                        len(patch.rows),
                        patch.column,
                    )
                    for patch in layer.within(image.first_output_row - done, image.output_rows)
                ]
        return jobs

    def _inputs(
        self, cascade: Cascade, stripe: tuple[Stripe, ...]
    ) -> tuple[dict[int, tuple[Place, int]], list[Transfer]]:
        """Return the inputs of a stripe, and the transfers that bring them.

        Of each input the place of a byte of it, and which one that is.
        """
        places: dict[int, tuple[Place, int]] = {}
        loads = []
        for tensor in cascade.inputs:
            if tensor not in self._choice.streamed:
                places[tensor] = Place(self._resident_buffer(tensor)), 0
                continue
            start, end = cascade.range_of(tensor, stripe)
            start = start // ALIGNMENT_BYTES * ALIGNMENT_BYTES
            buffer = self._builder.buffer(f"bytes {start} on of {tensor}", end - start)
            places[tensor] = Place(buffer), start
            loads.append(Transfer(tensor, start, end - start, Place(buffer), False))
        return places, loads
