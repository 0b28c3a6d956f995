"""Custom operators of a model: the rules that all of them obey, and their kernel call."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kiwicha import custom
from kiwicha.compiler.check.rules import Problem
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.tflite.detectors import NAME as DETECTION
from kiwicha.compiler.tflite.detectors import detection_problems
from kiwicha.compiler.tflite.graph import Graph, Operator, Tensor, TensorType
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import MAX_CUSTOM_INPUTS, MAX_RANK, Custom, Kernel
from kiwicha.custom import CustomNode, CustomTensor
from kiwicha.custom import calls as custom_calls

__all__ = ["CUSTOM_RULE", "custom_problems", "lower_custom"]

CUSTOM_RULE = (
    "Custom operators come from installed packages. They have one output and 1 to "
    f"{MAX_CUSTOM_INPUTS} inputs, dense int8, uint8 or int32 tensors of fixed shape; packages can "
    "add rules of their own."
)
_DTYPES: dict[TensorType, "np.dtype[Any]"] = {
    TensorType.INT8: np.dtype(np.int8),
    TensorType.UINT8: np.dtype(np.uint8),
    TensorType.INT32: np.dtype(np.int32),
}


def custom_problems(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Yield what is wrong with a custom operator; nothing if it is supported."""
    definition = custom.find(operator.name)
    if definition is None and operator.name == DETECTION:
        yield from map(Problem, detection_problems(graph, operator))
        return
    if definition is None:
        known = ", ".join(item.name for item in custom.operators()) or "none"
        yield Problem(
            f"custom operator must be one of an installed package ({known}); see "
            "docs/custom-operators.md"
        )
        return
    if len(operator.outputs) != 1:
        yield Problem(f"number of outputs must be 1, not {len(operator.outputs)}")
        return
    count = len(operator.inputs)
    inputs = [graph.operand(operator, position) for position in range(count)]
    present = [tensor for tensor in inputs if tensor is not None]
    if len(present) != count or not 1 <= count <= MAX_CUSTOM_INPUTS:
        yield Problem(
            f"number of inputs must be 1 to {MAX_CUSTOM_INPUTS}, none left out, not {len(present)}"
        )
        return
    found = [
        problem
        for what, tensor in (
            *((f"input {k + 1}", tensor) for k, tensor in enumerate(present)),
            ("output", graph.output(operator)),
        )
        for problem in _tensor_problems(what, tensor)
    ]
    yield from found
    if not found:
        node = _node(graph, operator)
        yield from map(Problem, custom_calls.problems_of(definition, node, operator.index))


def lower_custom(graph: Graph, operator: Operator) -> Layer:
    """Return the kernel call of an operator that has no `custom_problems`."""
    definition = custom.find(operator.name)
    assert definition is not None
    raw = custom_calls.parameters_of(definition, _node(graph, operator), operator.index)
    inputs = {f"input_{k + 1}": index for k, index in enumerate(operator.inputs)}
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.CUSTOM,
        params=Custom(
            operator_hash=definition.hash,
            input_count=len(inputs),
            input_1=Ref(),
            input_2=Ref(),
            input_3=Ref(),
            input_4=Ref(),
            parameters=Ref(),
            output=Ref(),
        ),
        tensors={**inputs, "output": operator.outputs[0]},
        constants={"parameters": np.frombuffer(raw, np.uint8)} if raw else {},
    )


def _tensor_problems(what: str, tensor: Tensor) -> Iterator[Problem]:
    if tensor.type not in _DTYPES:
        allowed = " or ".join(known.text for known in _DTYPES)
        yield Problem(
            f"{what} must be {allowed}, not {tensor.type.text}", tensor, is_about_type=True
        )
    if (
        len(tensor.shape) > MAX_RANK
        or min(tensor.shape, default=1) < 1
        or -1 in tensor.shape_signature[1:]
    ):
        shape = list(tensor.shape_signature or tensor.shape)
        yield Problem(
            f"{what} must have at most {MAX_RANK} fixed dimensions of 1 or more, not {shape}",
            tensor,
        )
    if tensor.is_variable or tensor.is_sparse:
        yield Problem(f"{what} must be a dense tensor that keeps nothing", tensor)


def _node(graph: Graph, operator: Operator) -> CustomNode:
    return CustomNode(
        tuple(_described(graph.tensors[index]) for index in operator.inputs),
        _described(graph.output(operator)),
        operator.options.custom,
    )


def _described(tensor: Tensor) -> CustomTensor:
    """Return a tensor as it is in the model; `tflite.unsigned` keeps its bytes so."""
    dtype = np.dtype(np.uint8) if tensor.is_shifted else _DTYPES[tensor.type]
    parameters = tensor.quantization
    value = None
    if tensor.data is not None:
        # The top bit of a byte is what 128 less changes.
        value = (tensor.data ^ np.uint8(tensor.shift)).view(dtype).reshape(tensor.shape)
    return CustomTensor(
        tensor.shape,
        dtype,
        0.0 if parameters is None else parameters.scale,
        0 if parameters is None else parameters.zero_point + tensor.shift,
        value,
    )
