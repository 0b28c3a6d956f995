"""Lowering of QUANTIZE between integers of which one has more than a byte."""

from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.quantization.unary_scales import rescaling_ratio
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import quantization
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.requantize import Requantize
from kiwicha.numerics.requantization import quantize_multiplier

__all__ = ["lower_requantize"]


def lower_requantize(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of such a QUANTIZE."""
    source, output = graph.input(operator), graph.output(operator)
    inputs, outputs = quantization(source), quantization(output)
    multiplier, shift = quantize_multiplier(rescaling_ratio(inputs, outputs))
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.REQUANTIZE,
        params=Requantize(
            input=Ref(),
            output=Ref(),
            count=source.elements,
            input_bytes=source.stored_bytes // source.elements,
            output_bytes=output.stored_bytes // output.elements,
            input_offset=-inputs.zero_point,
            multiplier=multiplier,
            shift=shift,
            output_offset=outputs.zero_point,
        ),
        tensors={"input": source.index, "output": output.index},
    )
