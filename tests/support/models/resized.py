"""Models of one RESIZE_BILINEAR."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.oracle import Case

__all__ = ["WAYS", "Resized"]

WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "corners": {"alignCorners": True},
    "centers": {"halfPixelCenters": True},
}
"""Ways to place pixels."""


@dataclass(frozen=True)
class Resized:
    """A model that gives images another size.

    Parameters
    ----------
    rows, columns, channels : int
        Of the input.
    row_factor, column_factor : int
        From the input to the output, rounded down; with "corners", from the distances of its
        pixels.
    way : str
        Of `WAYS`.
    images : int
        How many.
    """

    rows: int
    columns: int
    channels: int
    row_factor: Fraction | int
    column_factor: Fraction | int
    way: str
    images: int = 1

    def __str__(self) -> str:
        sizes = f"{self.images}x{self.rows}x{self.columns}x{self.channels}"
        return f"{sizes} by {self.row_factor} and {self.column_factor} {self.way}"

    def case(self, dtype: Any, seed: int = 0) -> Case:
        """Return the model with an input of random bytes."""
        size, factor = (self.rows, self.columns), (self.row_factor, self.column_factor)
        less = 1 if self.way == "corners" else 0
        wanted = [int((s - less) * f) + less for s, f in zip(size, factor, strict=True)]
        shape = self.images, *size, self.channels
        output = self.images, *wanted, self.channels
        builder = ModelBuilder()
        zero_point = 3 if dtype is np.int8 else 131
        x, y = (builder.tensor(s, dtype, scale=0.5, zero_point=zero_point) for s in (shape, output))
        operand = builder.tensor((2,), np.int32, data=np.array(wanted, np.int32))
        builder.operator("RESIZE_BILINEAR", [x, operand], [y], **WAYS[self.way])
        limits = np.iinfo(dtype)
        rng = np.random.default_rng(seed)
        values = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        return Case(builder.build([x], [y]), (values,))
