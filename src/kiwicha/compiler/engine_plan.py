"""A run with a choice of streamed tensors, worked out: stripes, events and buffers."""

from collections.abc import Callable, Sequence

from kiwicha.compiler.engine_events import Compute, Event, Place, Transfer
from kiwicha.compiler.engine_jobs import stream_bytes
from kiwicha.compiler.engine_layers import EngineLayer
from kiwicha.compiler.engine_run import Run
from kiwicha.compiler.engine_stripes import Stripe, stripes
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
    """A choice of streamed tensors, worked out."""

    def __init__(self, run: Run, macs: int, streamed: frozenset[int], capacity: int) -> None:
        self._run = run
        self._macs = macs
        self._streamed = streamed
        self._capacity = capacity
        self._producers = run.producers()
        self._owners = self._share_in_place()

    def _share_in_place(self) -> dict[int, int]:
        """Return the tensors that take over the memory of an input of their table job."""
        owners: dict[int, int] = {}
        for number, layer in enumerate(self._run.layers):
            for tensor in layer.inputs if layer.is_table else ():
                is_resident = not {tensor, layer.output} & self._streamed
                if is_resident and self._run.uses(tensor)[1] == number:
                    owners[layer.output] = tensor
                    break
        return owners

    def _owner(self, tensor: int) -> int:
        while tensor in self._owners:
            tensor = self._owners[tensor]
        return tensor

    def _tensor_bytes(self, tensor: int) -> int:
        producer = self._producers.get(tensor)
        if producer is not None:
            return self._run.output_bytes(producer)
        reader = next(layer for layer in self._run.layers if tensor in layer.inputs)
        return self._run.input_bytes(reader)

    def _is_streamable(self, tensor: int) -> bool:
        producer = self._producers.get(tensor)
        return producer is None or not self._run.is_padded(producer)

    def resident_tensors(self, number: int) -> dict[int, int]:
        """Return the tensors in the scratchpad that could be streamed, with their sizes."""
        return {
            tensor: self._tensor_bytes(tensor)
            for tensor in self._live(number)
            if self._is_streamable(tensor)
        }

    def _live(self, number: int) -> list[int]:
        tensors = {t for layer in self._run.layers for t in (*layer.inputs, layer.output)}
        return sorted(
            tensor
            for tensor in tensors - self._streamed
            if self._run.uses(tensor)[0] <= number <= self._run.uses(tensor)[1]
        )

    def _free_bytes(self, number: int) -> int:
        owned: dict[int, int] = {}
        for tensor in self._live(number):
            owner, size = self._owner(tensor), self._tensor_bytes(tensor)
            owned[owner] = max(owned.get(owner, 0), size)
        taken = sum(-(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES for size in owned.values())
        return self._capacity - taken

    def _stripes(self, number: int) -> list[Stripe] | None:
        layer = self._run.layers[number]
        free = self._free_bytes(number)
        if free < 0:
            return None
        return stripes(
            layer.window,
            self._run.input_pitch(layer),
            self._run.output_pitch(layer),
            sum(tensor in self._streamed for tensor in layer.inputs),
            layer.output in self._streamed,
            free,
            stream_bytes(layer, self._macs, self._run.input_pitch(layer)),
        )

    def crowded_layer(self) -> int | None:
        """Return the first layer that does not fit."""
        numbers = range(len(self._run.layers))
        return next((number for number in numbers if self._stripes(number) is None), None)

    def events(self) -> tuple[list[Event], list[Buffer]]:
        """Return transfers and jobs in one order, and the buffers they need."""
        builder = _Builder()
        resident: dict[int, int] = {}

        def buffer_of(tensor: int) -> int:
            owner = self._owner(tensor)
            if owner not in resident:
                resident[owner] = builder.buffer(f"tensor {owner}", self._tensor_bytes(owner))
            return resident[owner]

        for number, layer in enumerate(self._run.layers):
            found = self._stripes(number)
            assert found is not None
            for tensor in dict.fromkeys(layer.inputs):
                is_new = self._run.uses(tensor)[0] == number and tensor in self._run.loads
                if is_new and tensor not in self._streamed:
                    size = self._tensor_bytes(tensor)
                    builder.add(Transfer(tensor, 0, size, Place(buffer_of(tensor)), False))
            self._add_layer(builder, layer, found, buffer_of)
            if layer.output in self._run.stores and layer.output not in self._streamed:
                size = layer.window.output_pixels * layer.output_channels
                builder.add(Transfer(layer.output, 0, size, Place(buffer_of(layer.output)), True))
        return builder.events, builder.buffers()

    def _add_layer(
        self,
        builder: _Builder,
        layer: EngineLayer,
        found: Sequence[Stripe],
        buffer_of: Callable[[int], int],
    ) -> None:
        """Add the jobs of a layer, each between the transfers of its stripe."""
        inputs = [self._inputs(builder, layer, stripe, buffer_of) for stripe in found]
        input_pitch, output_pitch = self._run.input_pitch(layer), self._run.output_pitch(layer)
        output_row = layer.window.output_columns * output_pitch
        previous: int | None = None
        for number, stripe in enumerate(found):
            # The next stripe is loaded while this one is computed.
            for _, loads in inputs[number + (number > 0) : number + 2]:
                for load in loads:
                    builder.add(load)
            start = stripe.first_output_row * output_row
            if layer.output in self._streamed:
                size = stripe.output_rows * output_row
                output = Place(builder.buffer(f"stripe {number} of {layer.output}", size))
            else:
                output = Place(buffer_of(layer.output), start)
            builder.add(
                Compute(
                    layer,
                    inputs[number][0],
                    input_pitch,
                    stripe.first_input_row,
                    stripe.input_rows,
                    output,
                    output_pitch,
                    stripe.first_output_row,
                    stripe.output_rows,
                )
            )
            if previous is not None:
                # It may still be on its way to the arena while the next one is computed.
                builder.keep(previous)
            if layer.output in self._streamed:
                pixels = stripe.output_rows * layer.window.output_columns
                size = pixels * layer.output_channels
                builder.add(Transfer(layer.output, start, size, output, True))
                previous = output.buffer

    def _inputs(
        self,
        builder: _Builder,
        layer: EngineLayer,
        stripe: Stripe,
        buffer_of: Callable[[int], int],
    ) -> tuple[tuple[Place, ...], list[Transfer]]:
        """Return where the inputs of a stripe start, and the transfers that bring them."""
        row = layer.window.input_columns * self._run.input_pitch(layer)
        start = stripe.first_input_row * row
        places: dict[int, Place] = {}
        loads = []
        for tensor in dict.fromkeys(layer.inputs):
            if tensor not in self._streamed:
                places[tensor] = Place(buffer_of(tensor), start)
                continue
            skipped = start % ALIGNMENT_BYTES
            size = skipped + stripe.input_rows * row
            name = f"rows {stripe.first_input_row} on of {tensor}"
            buffer = builder.buffer(name, size)
            places[tensor] = Place(buffer, skipped)
            loads.append(Transfer(tensor, start - skipped, size, Place(buffer), False))
        return tuple(places[tensor] for tensor in layer.inputs), loads
