"""Lowering of RESIZE_BILINEAR: positions become tables."""

import numpy as np

from kiwicha.compiler.graph import Graph, Operator
from kiwicha.compiler.interpolation import interpolation
from kiwicha.compiler.layers import Layer
from kiwicha.isa import Kernel, ResizeBilinear
from kiwicha.layout import Ref

__all__ = ["lower_resize_bilinear"]


def lower_resize_bilinear(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a RESIZE_BILINEAR."""
    source, output = graph.input(operator), graph.output(operator)
    batches, height, width, channels = source.shape
    _, output_height, output_width, _ = output.shape
    rows, columns = (
        interpolation(inputs, outputs, operator.options)
        for inputs, outputs in ((height, output_height), (width, output_width))
    )
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.RESIZE_BILINEAR,
        params=ResizeBilinear(
            input=Ref(),
            output=Ref(),
            rows=Ref(),
            columns=Ref(),
            batches=batches,
            input_height=height,
            input_width=width,
            channels=channels,
            output_height=output_height,
            output_width=output_width,
        ),
        tensors={"input": source.index, "output": output.index},
        constants={"rows": rows.astype(np.int32), "columns": columns.astype(np.int32)},
    )
