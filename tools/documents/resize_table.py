"""Table of what images of another size take for each output, on the engine or the CPU."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.predictions import layer_predictions
from kiwicha.tflite_writer.builder import ModelBuilder
from tools.documents.markdown import table

__all__ = ["RESIZES", "ResizeExample", "resize_table"]

CONFIG = "64"
_WAYS: dict[str, dict[str, bool]] = {
    "": {},
    "corners": {"alignCorners": True},
    "centers": {"halfPixelCenters": True},
}
"""Options, by what the table calls them."""


@dataclass(frozen=True)
class ResizeExample:
    """A model of one RESIZE_BILINEAR of a square image.

    Parameters
    ----------
    size, result : int
        Rows, and columns, of the input and of the output.
    channels : int
        Channels.
    way : str
        One of `_WAYS`.
    is_unsigned : bool
        uint8, not int8.
    """

    size: int
    result: int
    channels: int
    way: str = ""
    is_unsigned: bool = True

    @property
    def text(self) -> str:
        """What the table says."""
        way = f", {self.way}" if self.way else ""
        return f"{self.size} x {self.size} to {self.result} x {self.result}{way}"

    def model(self) -> bytes:
        """Return the model."""
        dtype = np.uint8 if self.is_unsigned else np.int8
        builder = ModelBuilder("another size")
        x, y = (
            builder.tensor((1, side, side, self.channels), dtype, scale=0.05, zero_point=3)
            for side in (self.size, self.result)
        )
        sizes = np.array([self.result, self.result], np.int32)
        constant = builder.tensor((2,), np.int32, data=sizes)
        builder.operator("RESIZE_BILINEAR", [x, constant], [y], **_WAYS[self.way])
        return builder.build([x], [y])


RESIZES = (
    ResizeExample(16, 32, 32),
    ResizeExample(16, 32, 32, "corners"),
    ResizeExample(16, 48, 32, "centers"),
    ResizeExample(16, 48, 32, "corners"),
    ResizeExample(20, 30, 24, "centers"),
    ResizeExample(10, 60, 16),
    ResizeExample(33, 65, 19),
    ResizeExample(20, 30, 24, "centers", is_unsigned=False),
    ResizeExample(33, 65, 19, is_unsigned=False),
)


def resize_table(resizes: Sequence[ResizeExample] = RESIZES) -> str:
    """Return what each output takes, with the layers that bring bytes to int8 and back."""
    titles = ("image", "type", "channels:", "where", "cycles of an output:")
    return "\n".join(table(titles, _rows(resizes)))


def _rows(resizes: Sequence[ResizeExample]) -> Iterator[tuple[str, ...]]:
    for item in resizes:
        stages = compile_stages(item.model(), CONFIG)
        found = layer_predictions(stages.network.graph, stages.program).to_json()
        (where,) = (
            layer["where"] for layer in found["layers"] if layer["operator"] == "RESIZE_BILINEAR"
        )
        outputs = item.result**2 * item.channels
        kind = "uint8" if item.is_unsigned else "int8"
        cycles = f"{found['cycles'] / outputs:.1f}"
        yield item.text, kind, f"{item.channels}", where, cycles
