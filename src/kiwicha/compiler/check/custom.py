"""Support rules of custom operators."""

from collections.abc import Iterator

from kiwicha import custom
from kiwicha.compiler.check.rules import Problem
from kiwicha.compiler.tflite.custom_nodes import DTYPES, custom_node
from kiwicha.compiler.tflite.detectors import NAME as DETECTION
from kiwicha.compiler.tflite.detectors import detection_problems
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.program import MAX_CUSTOM_INPUTS, MAX_RANK
from kiwicha.custom import calls as custom_calls

__all__ = ["CUSTOM_RULE", "custom_problems"]

CUSTOM_RULE = (
    "Custom operators come from installed packages. They have one output and 1 to "
    f"{MAX_CUSTOM_INPUTS} inputs, dense int8, uint8 or int32 tensors of fixed shape; packages can "
    "add rules of their own."
)


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
        node = custom_node(graph, operator)
        yield from map(Problem, custom_calls.problems_of(definition, node, operator.index))


def _tensor_problems(what: str, tensor: Tensor) -> Iterator[Problem]:
    if tensor.type not in DTYPES:
        allowed = " or ".join(known.text for known in DTYPES)
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
