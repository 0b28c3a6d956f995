"""A run: layers that the engine does one after the other, without the CPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.ir.layers import EngineLayer, padded
from kiwicha.contract.engine import ENGINE_WATCHDOG_CYCLES

__all__ = ["MAX_LIST_CYCLES", "DoesNotFitError", "Run", "TooLongError", "TooSlowError"]

MAX_LIST_CYCLES = ENGINE_WATCHDOG_CYCLES // 2
"""Predicted cycles of a list, at most: slower memory than predicted is no reason to end it."""


class DoesNotFitError(Exception):
    """A layer does not fit the scratchpad, even in stripes."""

    def __init__(self, position: int) -> None:
        super().__init__(f"layer {position} does not fit the scratchpad")
        self.position = position


class TooSlowError(Exception):
    """A layer alone takes more cycles than a list may."""

    def __init__(self, position: int) -> None:
        super().__init__(f"layer {position} takes more than {MAX_LIST_CYCLES} cycles")
        self.position = position


class TooLongError(Exception):
    """A run has more jobs or cycles than a list can have; layers with which others can begin."""

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(f"the list must be cut at layers {list(positions)}")
        self.positions = tuple(positions)


@dataclass(frozen=True, eq=False)
class Run:
    """Layers that the engine does one after the other.

    Parameters
    ----------
    layers : tuple of EngineLayer
        In order.
    loads : frozenset of int
        Tensors that are in the arena before.
    stores : frozenset of int
        Tensors that must be in the arena afterwards.
    """

    layers: tuple[EngineLayer, ...]
    loads: frozenset[int]
    stores: frozenset[int]

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of all layers that it does."""
        return tuple(position for layer in self.layers for position in layer.positions)

    @cached_property
    def producers(self) -> dict[int, EngineLayer]:
        """The layer that writes each tensor."""
        return {layer.output: layer for layer in self.layers}

    def input_pitch(self, layer: EngineLayer) -> int:
        """Return the bytes of an input pixel of a layer."""
        tensor = layer.inputs[0]
        producer = self.producers.get(tensor)
        if producer is not None and self.is_padded(producer):
            return self.output_pitch(producer)
        return layer.window.channels

    def output_pitch(self, layer: EngineLayer) -> int:
        """Return the bytes of an output pixel of a layer."""
        return self.input_pitch(layer) if layer.is_flat else padded(layer.output_channels)

    def is_padded(self, layer: EngineLayer) -> bool:
        """Whether there are bytes between the pixels that a layer writes."""
        dense = layer.output_channels
        return layer.window.output_pixels > 1 and self.output_pitch(layer) != dense

    def output_bytes(self, layer: EngineLayer) -> int:
        """Return the bytes that hold the output of a layer."""
        return layer.window.output_pixels * self.output_pitch(layer)

    def input_bytes(self, layer: EngineLayer, tensor: int) -> int:
        """Return the bytes that hold an input of a layer."""
        if tensor in layer.whole_inputs:
            return layer.window.channels
        return layer.window.input_pixels * self.input_pitch(layer)

    def input_row_bytes(self, layer: EngineLayer) -> int:
        """Return the bytes of an input row of a layer."""
        return layer.window.input_columns * self.input_pitch(layer)

    def output_row_bytes(self, layer: EngineLayer) -> int:
        """Return the bytes of an output row of a layer."""
        return self._output_row_bytes[layer.output]

    @cached_property
    def _output_row_bytes(self) -> dict[int, int]:
        return {
            layer.output: layer.window.output_columns * self.output_pitch(layer)
            for layer in self.layers
        }

    def tensor_bytes(self, tensor: int) -> int:
        """Return the bytes that hold a tensor."""
        producer = self.producers.get(tensor)
        if producer is not None:
            return self.output_bytes(producer)
        return self.input_bytes(self.layers[self.uses(tensor)[0]], tensor)

    def is_streamable(self, tensor: int) -> bool:
        """Whether a tensor can lie in the arena: it has no bytes between its pixels."""
        producer = self.producers.get(tensor)
        return producer is None or not self.is_padded(producer)

    def uses(self, tensor: int) -> tuple[int, int]:
        """Return the numbers of the first and the last layer that write or read a tensor."""
        return self._uses[tensor]

    @cached_property
    def _uses(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for number, layer in enumerate(self.layers):
            for tensor in (*layer.inputs, layer.output):
                found[tensor] = found.get(tensor, (number, number))[0], number
        return found
