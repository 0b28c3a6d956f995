"""Lowering of ARG_MAX and ARG_MIN."""

import math

from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import reduced_axes
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.arg_max import ArgMax

__all__ = ["lower_arg_max"]


def lower_arg_max(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of an ARG_MAX or ARG_MIN."""
    shape = graph.input(operator).shape
    (axis,) = reduced_axes(graph, operator)
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.ARG_MAX,
        params=ArgMax(
            input=Ref(),
            output=Ref(),
            outer=math.prod(shape[:axis]),
            depth=shape[axis],
            inner=math.prod(shape[axis + 1 :]),
            flip=-1 if operator.name == "ARG_MIN" else 0,
            words=2 if graph.output(operator).type is TensorType.INT64 else 1,
        ),
        tensors={"input": operator.inputs[0], "output": operator.outputs[0]},
    )
