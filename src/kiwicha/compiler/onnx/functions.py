"""Functions of one number: chains of them become one table, exactly as ONNX defines them."""

from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.onnx.model import Node, evaluate
from kiwicha.compiler.onnx.operands import constant, operand
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import (
    Activation,
    Constant,
    Pending,
    Reals,
    Refusal,
    Scale,
    Unquantized,
    Value,
)
from kiwicha.compiler.onnx.writer import Writer

__all__ = ["FUNCTIONS", "of_one_tensor"]

FUNCTIONS = (
    "Abs",
    "Celu",
    "Elu",
    "Erf",
    "Exp",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "LeakyRelu",
    "Log",
    "Mish",
    "Neg",
    "Reciprocal",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Tanh",
    "ThresholdedRelu",
)


@onnx_operator(*FUNCTIONS)
def function(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Functions of one number become a table of the results of ONNX's definition.

    Several in a row need no quantization between them, and become one table.
    """
    del writer
    return _applied(node, inputs[0], [])


def _applied(node: Node, value: Value | None, more: Sequence[object]) -> Activation:
    if isinstance(value, Pending):
        raise Unquantized(
            "input must be quantized, not float32: QuantizeLinear and DequantizeLinear must "
            f"stand between it and {value.name}"
        )
    if not isinstance(value, Activation):
        raise Refusal("input must be float32 from a DequantizeLinear")
    operands = [value.reals, *(None if item is None else np.asarray(item) for item in more)]
    return _with(value, _evaluated(node, operands))


def _evaluated(node: Node, operands: Sequence[Reals | None]) -> Reals:
    results = evaluate(node, operands)
    if results is None or results[0].size != 256:
        raise Refusal("function must be one that the onnx package can evaluate")
    return results[0].reshape(-1).astype(np.float32)


def _with(value: Activation, reals: Reals) -> Activation:
    return Activation(value.tensor, value.shape, value.order, reals, value.features, value.source)


@onnx_operator("Relu", "Clip")
def limit(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Relu and Clip can also stand between a layer and its QuantizeLinear; bounds are constants."""
    value = operand(inputs, 0)
    bounds = [
        None if bound is None else constant(bound, "bounds").astype(np.float32)
        for bound in inputs[1:]
    ]
    if not isinstance(value, Pending):
        return _applied(node, value, bounds)
    pending = value

    def emit(scale: Scale) -> Activation:
        # Bounds and rounding do not care which comes first: both keep the order of numbers.
        inside = pending.at(scale)
        limited = _evaluated(node, [inside.reals, *bounds])
        return writer.quantized(_with(inside, limited), scale, node.outputs[0])

    return Pending(node.outputs[0], pending.shape, emit)


def of_one_tensor(node: Node, inputs: Operands) -> Activation | None:
    """Return arithmetic of a tensor with single numbers, or with itself; None if it is other.

    Parameters
    ----------
    node : Node
        On two operands.
    inputs : sequence of Value
        They.
    """
    found = [item for item in inputs if isinstance(item, Activation)]
    if not found:
        return None
    first = found[0]
    operands: list[Reals | None] = []
    for item in inputs:
        if isinstance(item, Constant) and item.values.size == 1:
            if item.values.ndim > len(first.shape):
                return None
            operands.append(item.values.reshape(-1).astype(np.float32))
        elif isinstance(item, Activation) and (item.tensor, item.shape, item.order) == (
            first.tensor,
            first.shape,
            first.order,
        ):
            operands.append(item.reals)
        else:
            return None
    return _with(first, _evaluated(node, operands))
