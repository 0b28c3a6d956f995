"""Images of another size in blocks of columns, where rows of two passes are too long.

A block is an image of its own: it reads the columns that its outputs lie between, and writes a
tensor of its own. A move then joins the blocks.
"""

import dataclasses
import math

import numpy as np

from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.select.resize.interpolation import interpolation
from kiwicha.compiler.engine.select.resize.passes import pass_bytes
from kiwicha.compiler.lower.byte_copies import byte_copy
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.graph import Operator, Options
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.program import Kernel
from kiwicha.kernels.resize_bilinear import ResizeBilinear

__all__ = ["resize_in_blocks"]

ROOM = 0.75
"""Part of the scratchpad for a block; the rest is for its input, and what else is there."""


def resize_in_blocks(network: Network, scratchpad_bytes: int) -> Network:
    """Return the network with images whose output rows are too long in blocks of their columns.

    Parameters
    ----------
    network : Network
        The model.
    scratchpad_bytes : int
        Of the engine.
    """
    blocks = _Blocks(network)
    for position, layer in enumerate(network.layers):
        size = _columns(layer, position, scratchpad_bytes)
        if size:
            blocks.divide(layer, size)
        else:
            blocks.layers.append(layer)
    return blocks.network() if len(blocks.layers) > len(network.layers) else network


def _columns(layer: Layer, position: int, scratchpad_bytes: int) -> int:
    """Return how many output columns a block has; 0 if the layer stays as it is."""
    if layer.kernel is not Kernel.RESIZE_BILINEAR or layer.ranges:
        return 0
    try:
        needed = pass_bytes(layer, position)
    except BrokenLimitError:
        return 0
    if needed <= scratchpad_bytes:
        return 0
    try:
        interpolation(layer, position)
    except BrokenLimitError:
        p: ResizeBilinear = layer.params
        most = int(ROOM * scratchpad_bytes) * p.output_width // needed
        if most == 0:
            return 0
        # Rows of whole lines, if these are not too many columns.
        unit = LINE_BYTES // math.gcd(LINE_BYTES, p.channels)
        unit = unit if unit <= most else 1
        count = -(-p.output_width // (most // unit * unit))
        return -(-p.output_width // (count * unit)) * unit
    return 0


class _Blocks:
    """Layers of a network, some of them in blocks, and the tensors and operators that they add."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._tensors = list(network.tensors)
        self._operators = list(network.graph.operators)
        self.layers: list[Layer] = []

    def network(self) -> Network:
        """Return the network with them."""
        graph = dataclasses.replace(
            self._network.graph, tensors=tuple(self._tensors), operators=tuple(self._operators)
        )
        network = dataclasses.replace(self._network, graph=graph, layers=tuple(self.layers))
        network.verify()
        return network

    def divide(self, layer: Layer, size: int) -> None:
        """Add a layer in blocks of so many columns; the last one has some of those before."""
        width = layer.params.output_width
        parts = []
        for start in range(0, width, size):
            end = min(start + size, width)
            block = range(end - size, end)
            parts.append(self._part(layer, self._block(layer, block), block, start))
        first, *others = parts
        self.layers.append(dataclasses.replace(first, more=tuple(others)))

    def _block(self, layer: Layer, columns: range) -> int:
        """Add the layers of a block; return its tensor."""
        p: ResizeBilinear = layer.params
        table = layer.constants["columns"][columns.start : columns.stop].copy()
        pixels = table[:, :2].astype(np.int64)
        low, high = int(pixels.min()), int(pixels.max()) + 1
        table[:, :2] = pixels - low
        source, output = layer.tensors["input"], layer.tensors["output"]
        rows = p.batches * p.input_height
        pitch, width = p.input_width * p.channels, (high - low) * p.channels
        read = self._tensor(source, low, (p.batches, p.input_height, high - low, p.channels))
        copy = byte_copy(
            View.of((rows, pitch)).sliced(1, low * p.channels, width), View.of((rows, width)), 1
        )
        self.layers.append(
            Layer(
                self._operator("SLICE", source, read),
                "SLICE",
                kernel=Kernel.COPY,
                params=copy.params,
                tensors={"input": source, "output": read},
                ranges={"input": copy.source, "output": copy.target},
            )
        )
        shape = (p.batches, p.output_height, len(columns), p.channels)
        written = self._tensor(output, columns.start, shape)
        self.layers.append(
            dataclasses.replace(
                layer,
                operator=self._operator(layer.name, read, written),
                params=dataclasses.replace(p, input_width=high - low, output_width=len(columns)),
                tensors={"input": read, "output": written},
                constants={**layer.constants, "columns": table},
            )
        )
        return written

    def _part(self, layer: Layer, written: int, block: range, start: int) -> Layer:
        """Return the copy of a block's columns from ``start`` on to their place."""
        p: ResizeBilinear = layer.params
        rows, width = p.batches * p.output_height, (block.stop - start) * p.channels
        source = View.of((rows, len(block) * p.channels))
        target = View.of((rows, p.output_width * p.channels))
        copy = byte_copy(
            source.sliced(1, (start - block.start) * p.channels, width),
            target.sliced(1, start * p.channels, width),
            1,
        )
        return Layer(
            layer.operator,
            layer.name,
            kernel=Kernel.COPY,
            params=copy.params,
            tensors={"input": written, "output": layer.tensors["output"]},
            ranges={"input": copy.source, "output": copy.target},
        )

    def _tensor(self, like: int, first: int, shape: tuple[int, ...]) -> int:
        index, tensor = len(self._tensors), self._tensors[like]
        name = f"columns from {first} of {tensor.name}"
        self._tensors.append(
            dataclasses.replace(tensor, index=index, name=name, shape=shape, shape_signature=())
        )
        return index

    def _operator(self, name: str, source: int, target: int) -> int:
        index = len(self._operators)
        self._operators.append(Operator(index, name, (source,), (target,), Options()))
        return index
