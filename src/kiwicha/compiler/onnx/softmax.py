"""Softmax."""

from kiwicha.compiler.onnx.layout import last, reshaped
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.operands import activation, axes_of, operand
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import Activation, Pending, Scale, Value
from kiwicha.compiler.onnx.writer import Writer

__all__: list[str] = []

_PROBABILITIES = Scale(1 / 256, -128)
"""What TFLite's SOFTMAX gives."""
_SINCE_AXIS = 13
"""Version from which on it is about one dimension."""


@onnx_operator("Softmax")
def softmax(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Softmax works along any dimension.

    With an output scale of 1/256 and the lowest zero point it is rounded once, with others twice.
    """
    source = activation(writer, operand(inputs, 0))
    shape = source.shape
    is_old = node.opset < _SINCE_AXIS
    (axis,) = axes_of([int(node.get("axis", 1 if is_old else -1))], len(shape), "axis")
    flat = (*shape[:axis], -1) if is_old else shape

    def emit(scale: Scale) -> Activation:
        rows = source
        if is_old:
            count = 1
            for size in shape[axis:]:
                count *= size
            rows = reshaped(writer, rows, (*flat[:-1], count))
        rows = last(writer, rows, axis)
        output = writer.bytes(node.outputs[0], rows.stored, _PROBABILITIES)
        writer.operator("SOFTMAX", (rows.tensor,), (output,))
        result = Activation(output, rows.shape, rows.order, _PROBABILITIES.reals)
        result = writer.quantized(result, scale, node.outputs[0])
        return reshaped(writer, result, shape)

    return Pending(node.outputs[0], shape, emit)
