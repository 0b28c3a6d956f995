"""Cascades: layers of a run that work side by side, stripe by stripe."""

from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.ir.layers import EngineLayer, Window
from kiwicha.compiler.engine.ir.run import Run
from kiwicha.compiler.engine.schedule.stripes import Stripe, by_image, stripe, stripes
from kiwicha.contract.engine import ELEMENT_KINDS

__all__ = ["Cascade", "Choice", "Stage"]


@dataclass(frozen=True, eq=False)
class Cascade:
    """Consecutive layers of a run; of what all but the last one write, only stripes ever exist.

    Parameters
    ----------
    run : Run
        The run.
    first, end : int
        Number of its first layer, and of the one behind its last.
    """

    run: Run
    first: int
    end: int

    @cached_property
    def layers(self) -> tuple[EngineLayer, ...]:
        """The layers in order."""
        return self.run.layers[self.first : self.end]

    @property
    def output(self) -> int:
        """The tensor that the last layer writes."""
        return self.layers[-1].output

    @cached_property
    def passed(self) -> frozenset[int]:
        """Tensors of which only stripes exist."""
        return frozenset(layer.output for layer in self.layers[:-1])

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """Tensors that come from outside."""
        read = (tensor for layer in self.layers for tensor in layer.inputs)
        return tuple(tensor for tensor in dict.fromkeys(read) if tensor not in self.passed)

    def readers(self, tensor: int) -> tuple[int, ...]:
        """Return the numbers, in the cascade, of the layers that read a tensor."""
        return self._readers_by_tensor.get(tensor, ())

    @cached_property
    def _readers_by_tensor(self) -> dict[int, tuple[int, ...]]:
        return {
            tensor: tuple(k for k, layer in enumerate(self.layers) if tensor in layer.inputs)
            for tensor in {tensor for layer in self.layers for tensor in layer.inputs}
        }

    @property
    def is_possible(self) -> bool:
        """Whether all that is passed on is read here only, and as the rows that are written."""
        return all(
            self.run.uses(writer.output)[1] < self.end
            and writer.output not in self.run.stores
            and all(self._fit(writer, self.layers[k]) for k in self.readers(writer.output))
            and self.readers(writer.output)
            for writer in self.layers[:-1]
        )

    def _fit(self, writer: EngineLayer, reader: EngineLayer) -> bool:
        written = writer.window.output_rows, writer.window.output_columns
        read = reader.window.input_rows, reader.window.input_columns
        return written == read and self.run.output_pitch(writer) == self.run.input_pitch(reader)

    def stripes(self, height: int) -> list[tuple[Stripe, ...]]:
        """Return what the layers compute, in stripes of ``height`` rows of the last one."""
        return stripes(self._windows, self._readers, height)

    def stripe(self, first_row: int, rows: int) -> tuple[Stripe, ...]:
        """Return what the layers compute for some rows of the last one."""
        return stripe(self._windows, self._readers, first_row, rows)

    @cached_property
    def _windows(self) -> list[Window]:
        return [layer.window for layer in self.layers]

    @cached_property
    def _readers(self) -> list[tuple[int, ...]]:
        return [*(self.readers(layer.output) for layer in self.layers[:-1]), ()]

    def range_of(self, tensor: int, found: tuple[Stripe, ...]) -> tuple[int, int]:
        """Return first byte and end of what a stripe reads of a tensor from outside."""
        starts, ends = [], []
        for number in self.readers(tensor):
            if tensor in self.layers[number].whole_inputs:
                starts.append(0)
                ends.append(self.run.input_bytes(self.layers[number], tensor))
                continue
            row = self.run.input_row_bytes(self.layers[number])
            part = found[number]
            starts.append(part.first_input_row * row)
            ends.append((part.first_input_row + part.input_rows) * row)
        return min(starts), max(ends)

    def host(self, resident: Set[int]) -> int | None:
        """Return the resident tensor whose memory the output can take over.

        It is an input of a last layer that works byte by byte, and nobody else needs it: then a
        stripe overwrites what only that stripe has read.
        """
        layer = self.layers[-1]
        keeps_pitch = self.run.input_pitch(layer) == self.run.output_pitch(layer)
        is_by_byte = layer.kind in ELEMENT_KINDS and keeps_pitch
        if not is_by_byte or layer.output not in resident:
            return None
        for tensor in layer.inputs:
            if tensor in layer.whole_inputs:
                continue
            is_last_use = self.run.uses(tensor)[1] == self.end - 1
            if (
                tensor in resident
                and is_last_use
                and self.readers(tensor) == (len(self.layers) - 1,)
            ):
                return tensor
        return None


@dataclass(frozen=True)
class Stage:
    """How a cascade is done.

    Parameters
    ----------
    cascade : Cascade
        The layers.
    height : int
        Rows of the last layer in a stripe.
    is_early : bool
        Inputs of the next stripe are loaded from a stripe's beginning on; else when their room is
        free. The later, the less memory it takes.
    keeps_output : bool
        A stripe's output has its room until the next stripe ends; else until its first job ends.
    """

    cascade: Cascade
    height: int
    is_early: bool = True
    keeps_output: bool = True

    @property
    def jobs(self) -> int:
        """How many jobs there are."""
        layers = self.cascade.layers
        count = -(-layers[-1].window.output_rows // self.height)
        if all(layer.window.images == 1 and not layer.patches for layer in layers):
            return count * len(layers)
        return sum(
            len(list(layer.within(layer.window.row_of(image.first_output_row), image.output_rows)))
            for found in self.cascade.stripes(self.height)
            for layer, part in zip(layers, found, strict=True)
            for image in by_image(layer.window, part)
        )

    def load_step(self, tensor: int) -> int:
        """Return the job of a stripe with which an input of the next one is loaded.

        The number of jobs stands for the first one of the stripe itself.
        """
        readers, count = self.cascade.readers(tensor), len(self.cascade.layers)
        if self.is_early:
            return 0
        return readers[-1] + 1 if readers[0] == 0 else count


@dataclass(frozen=True)
class Choice:
    """How a run is done.

    Parameters
    ----------
    stages : tuple of Stage
        Cascades in order.
    streamed : frozenset of int
        Tensors between cascades, or at the edges of the run, that move between arena and scratchpad
        in stripes. Others that are not passed on stay in the scratchpad while they are needed.
    """

    stages: tuple[Stage, ...]
    streamed: frozenset[int]
