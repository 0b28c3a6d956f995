"""Operations of a layer, each of what the one before it writes."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.operations import Operation, internal_tensor
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.compiler.engine.select.elements.elementwise import table_lookup
from kiwicha.compiler.lower.tables import ALL_BYTES

__all__ = ["StepSequence"]


class StepSequence:
    """Operations of a layer, each of what the one before it writes.

    Parameters
    ----------
    position : int
        Position of the layer.
    source : int
        Tensor that the first one reads.
    """

    def __init__(self, position: int, source: int) -> None:
        self.position = position
        self.tensor = source
        self.steps: list[Operation] = []

    @property
    def new(self) -> int:
        """What the next operation writes."""
        return internal_tensor(self.position, len(self.steps))

    def append(self, step: Operation) -> None:
        """Add an operation that writes ``new``."""
        self.steps.append(step)
        self.tensor = step.output

    def invert(self, image: Image) -> None:
        """Exchange all bits, so that the smallest byte becomes the largest."""
        self.look_up(image, np.invert(ALL_BYTES))

    def look_up(self, image: Image, values: NDArray[np.int64]) -> None:
        """Exchange bytes as a table says."""
        self.append(table_lookup(self.position, self.tensor, self.new, image, values))

    def invert_before(self, kind: type[Operation]) -> None:
        """Exchange all bits of what the first operation of a kind reads, in its rows."""
        number = next(k for k, step in enumerate(self.steps) if isinstance(step, kind))
        step, inverted = self.steps[number], self.new
        (tensor,) = step.inputs
        image = step.input_image(tensor)
        self.steps[number] = dataclasses.replace(step, inputs=(inverted,))
        table = table_lookup(self.position, tensor, inverted, image, np.invert(ALL_BYTES))
        self.steps.insert(number, table)
