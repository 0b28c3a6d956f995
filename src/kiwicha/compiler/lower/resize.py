"""Lowering of RESIZE_BILINEAR: positions become tables, or a single pixel is copied."""

from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.interpolation import float_interpolation, interpolation
from kiwicha.compiler.tflite.uint8_as_int8 import SHIFT
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.resize_bilinear import Blend, ResizeBilinear

__all__ = ["is_one_pixel", "lower_resize_bilinear"]


def is_one_pixel(graph: Graph, operator: Operator) -> bool:
    """Whether an operator is a RESIZE_BILINEAR of a single pixel, which only repeats it."""
    return operator.name == "RESIZE_BILINEAR" and graph.input(operator).shape[1:3] == (1, 1)


def lower_resize_bilinear(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a RESIZE_BILINEAR."""
    source, output = graph.input(operator), graph.output(operator)
    batches, height, width, channels = source.shape
    _, output_height, output_width, _ = output.shape
    is_single = source.is_shifted or graph.is_onnx
    interpolate = float_interpolation if is_single else interpolation
    rows, columns = (
        interpolate(inputs, outputs, operator.options)
        for inputs, outputs in ((height, output_height), (width, output_width))
    )
    is_float = is_single and not rows.is_exact(columns)
    packed = None if is_float else rows.packed(columns)
    if packed is not None:
        blend, tables = Blend.PACKED, packed
    else:
        blend = Blend.FLOAT if is_float else Blend.FIXED
        tables = rows.table(is_float=is_float), columns.table(is_float=is_float)
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
            offset=SHIFT if is_single else 0,
            blend=blend,
            scratch=Ref(),
        ),
        tensors={"input": source.index, "output": output.index},
        constants={"rows": tables[0], "columns": tables[1]},
    )
