"""An image that gets another size, between rows and columns."""

from dataclasses import dataclass

from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.select.resize.dimensions import Dimension
from kiwicha.compiler.lower.network import Layer
from kiwicha.kernels.resize_bilinear import ResizeBilinear

__all__ = ["ResizedImage"]


@dataclass(frozen=True)
class ResizedImage:
    """An image that gets another size."""

    position: int
    layer: Layer
    rows: Dimension
    columns: Dimension

    @property
    def params(self) -> ResizeBilinear:
        """The kernel's parameters."""
        p: ResizeBilinear = self.layer.params
        return p

    @property
    def row_bytes(self) -> int:
        """Bytes of an output row, with pixels of whole words."""
        return self.columns.outputs * padded(self.params.channels)

    @property
    def all_rows(self) -> int:
        """Input rows of all images."""
        return self.params.batches * self.params.input_height
