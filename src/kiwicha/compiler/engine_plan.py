"""A choice for a run, worked out: events and buffers."""

from collections.abc import Mapping, Sequence

from kiwicha.compiler.engine_cascade import Cascade, Choice
from kiwicha.compiler.engine_events import Compute, Event, Place, Transfer
from kiwicha.compiler.engine_run import Run
from kiwicha.compiler.engine_stripes import Stripe
from kiwicha.compiler.placement import Buffer
from kiwicha.isa import ALIGNMENT_BYTES

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
        outside = {t for cascade, _ in choice.cascades for t in (*cascade.inputs, cascade.output)}
        resident = outside - choice.streamed
        hosts = {cascade.output: cascade.host(resident) for cascade, _ in choice.cascades}
        self._owners = {tensor: host for tensor, host in hosts.items() if host is not None}
        for cascade, height in choice.cascades:
            self._load_resident(cascade)
            self._add(cascade, cascade.stripes(height))
            self._store_resident(cascade)

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

    def _add(self, cascade: Cascade, found: Sequence[tuple[Stripe, ...]]) -> None:
        """Add the jobs of a cascade, stripe by stripe, each between its transfers."""
        inputs = [self._inputs(cascade, stripe) for stripe in found]
        is_streamed = cascade.output in self._choice.streamed
        last = cascade.layers[-1]
        previous: int | None = None
        for number, stripe in enumerate(found):
            # The next stripe is loaded while this one is computed.
            for _, loads in inputs[number + (number > 0) : number + 2]:
                for load in loads:
                    self._builder.add(load)
            start = stripe[-1].first_output_row * self._run.output_row_bytes(last)
            if is_streamed:
                size = stripe[-1].output_rows * self._run.output_row_bytes(last)
                output = Place(self._builder.buffer(f"stripe {number} of {cascade.output}", size))
            else:
                output = Place(self._resident_buffer(cascade.output), start)
            self._compute(cascade, stripe, inputs[number][0], output, previous)
            if is_streamed:
                pixels = stripe[-1].output_rows * last.window.output_columns
                stored = pixels * last.output_channels
                self._builder.add(Transfer(cascade.output, start, stored, output, True))
                previous = output.buffer

    def _compute(
        self,
        cascade: Cascade,
        stripe: tuple[Stripe, ...],
        inputs: Mapping[int, tuple[Place, int]],
        output: Place,
        previous: int | None,
    ) -> None:
        """Add the jobs of a stripe."""
        passed: dict[int, tuple[Place, int]] = {}
        for layer, part in zip(cascade.layers, stripe, strict=True):
            row = self._run.input_row_bytes(layer)
            places = []
            for tensor in layer.inputs:
                place, first_byte = passed[tensor] if tensor in passed else inputs[tensor]
                offset = place.offset + part.first_input_row * row - first_byte
                places.append(Place(place.buffer, offset))
            target, output_row = output, self._run.output_row_bytes(layer)
            if layer.output in cascade.passed:
                size = part.output_rows * output_row
                name = f"rows {part.first_output_row} on of {layer.output}"
                target = Place(self._builder.buffer(name, size))
                passed[layer.output] = target, part.first_output_row * output_row
            self._builder.add(
                Compute(
                    layer,
                    tuple(places),
                    self._run.input_pitch(layer),
                    part.first_input_row,
                    part.input_rows,
                    target,
                    self._run.output_pitch(layer),
                    part.first_output_row,
                    part.output_rows,
                )
            )
            if previous is not None and layer is cascade.layers[0]:
                # It may still be on its way to the arena while the next one is computed.
                self._builder.keep(previous)

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
