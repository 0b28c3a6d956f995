"""What users can do about a model that is refused: only what is true of this model."""

from collections.abc import Callable, Iterator, Sequence

from kiwicha.compiler.check.model import (
    has_no_circle_of_calls,
    has_one_subgraph,
    is_a_known_operator,
)
from kiwicha.compiler.check.rules import Problem, rule_text
from kiwicha.compiler.check.tensors import (
    has_a_fixed_shape,
    has_few_dimensions,
    has_plain_storage,
)
from kiwicha.compiler.check.variables import VARIABLE_RULES
from kiwicha.compiler.tflite.control_flow import CONTROL_FLOW
from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.operators import OPERATORS, Family, of_family
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.custom import MODEL_PREFIX
from kiwicha.errors import Violation

__all__ = ["Finding", "remedies"]

Finding = tuple[Violation, Problem]

TO_INT8 = (
    "TFLiteConverter with a representative dataset, TFLITE_BUILTINS_INT8 and int8 for inputs and "
    "outputs"
)
_STATE = {rule_text(has_plain_storage), *(item.text for item in VARIABLE_RULES)}
"""Rules about what is kept between inferences."""
_FLOATS = {TensorType.FLOAT16, TensorType.BFLOAT16, TensorType.FLOAT32}
_ACTIVATIONS = {TensorType.INT8, TensorType.INT16}
"""Types that quantized activations have in models."""
_ALWAYS_QUANTIZED = {TensorType.INT8, TensorType.INT4}
_WEIGHTED = of_family(Family.WEIGHTED)


def remedies(graph: Graph, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return what helps against what was found, the most useful first; may be nothing.

    Parameters
    ----------
    graph : Graph
        The model.
    findings : sequence of Finding
        What is wrong with it, one or more.
    """
    return tuple(text for find in _REMEDIES for text in find(graph, findings))


def _quantize(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield how floats become int8: all of them, activations, or those of some operators."""
    if not _FLOATS & {tensor.type for tensor in _of_wrong_type(findings)}:
        return
    is_quantized = any(
        tensor.type in _ACTIVATIONS and tensor.quantization is not None and not tensor.is_constant
        for tensor in graph.tensors
    )
    if is_quantized:
        yield (
            "the model is quantized, but for some operators: let the converter quantize these, too "
            "(TFLITE_BUILTINS_INT8 as the only supported_ops), or compute them outside the model"
        )
    elif any(tensor.type is TensorType.INT8 for tensor in _weights(graph)):
        yield f"only the weights are quantized: quantize the activations, too ({TO_INT8})"
    else:
        yield f"quantize the model to int8 ({TO_INT8})"


def _other_width(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about numbers that are quantized, but not to int8."""
    wrong = [tensor for tensor in _of_wrong_type(findings) if tensor.quantization is not None]
    types = {tensor.type for tensor in wrong}
    if TensorType.INT16 in types:
        yield "activations are int16: quantize them to int8 (TFLITE_BUILTINS_INT8)"
    if TensorType.INT4 in types:
        yield "weights are int4: quantize them to int8"
    names = _names(findings, lambda tensor: tensor.is_shifted)
    if names:
        yield (
            f"no interpreter computes {names} of uint8: convert the model again, to int8 "
            f"({TO_INT8})"
        )


def _integers_only(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about operators that no interpreter computes of quantized numbers."""
    quantized = _names(
        findings, lambda tensor: tensor.type is TensorType.INT8 and not tensor.is_shifted
    )
    names = " and ".join(name for name in quantized.split(" and ") if _takes_no_int8(name))
    if names:
        instead = " (of NEG that is a MUL with a constant)" if "NEG" in names.split() else ""
        yield (
            f"no interpreter computes {names} of int8: use an operator that one computes{instead}, "
            "or compute that part outside the model"
        )


def _takes_no_int8(name: str) -> bool:
    """Whether an operator has a kernel for other types only."""
    kind = OPERATORS.get(name)
    return kind is not None and TensorType.INT8 not in kind.types.get("input", (TensorType.INT8,))


def _dimensions(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about tensors of too many dimensions."""
    if _breaks(findings, rule_text(has_few_dimensions)):
        yield (
            "join dimensions that lie next to each other, with RESHAPEs around the operators that "
            "have them"
        )


def _integers(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about arithmetic on plain integers."""
    plain = {
        tensor.type.text
        for tensor in _of_wrong_type(findings)
        if tensor.quantization is None and tensor.type not in {*_FLOATS, *_ALWAYS_QUANTIZED}
    }
    if plain:
        yield (
            f"arithmetic on {' and '.join(sorted(plain))} belongs before or behind the model: "
            "compute it on the host"
        )


def _state(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about values that are kept between inferences."""
    if any(
        violation.rule in _STATE and (problem.tensor is None or not problem.tensor.is_sparse)
        for violation, problem in findings
    ):
        yield "make what the model keeps between inferences inputs and outputs of it"


def _one_subgraph(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about loops and conditions."""
    rules = (has_one_subgraph, has_no_circle_of_calls)
    is_left = any(violation.name in CONTROL_FLOW for violation, _ in findings)
    if is_left or any(_breaks(findings, rule_text(rule)) for rule in rules):
        yield "unroll loops, and take conditions out of the model"


def _fixed_shape(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about shapes that are not known."""
    if _breaks(findings, rule_text(has_a_fixed_shape)) or _has_free_inputs(graph):
        yield "convert the model with inputs of a fixed shape"


def _replace(graph: Graph, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about operators that are not known."""
    unknown = rule_text(is_a_known_operator)
    names = {v.name for v, _ in findings if v.rule == unknown}
    names = {name for name in names if not name.startswith(MODEL_PREFIX)} - {*CONTROL_FLOW}
    if names:
        yield (
            f"replace {' and '.join(sorted(names))} by operators of docs/supported.md, or compute "
            "that part outside the model"
        )


_REMEDIES: tuple[Callable[[Graph, Sequence[Finding]], Iterator[str]], ...] = (
    _quantize,
    _other_width,
    _integers_only,
    _state,
    _replace,
    _one_subgraph,
    _fixed_shape,
    _dimensions,
    _integers,
)


def _names(findings: Sequence[Finding], is_wrong: Callable[[Tensor], bool]) -> str:
    """Return the operators that have tensors of wrong types, of those for which something holds."""
    names = {
        violation.name
        for violation, problem in findings
        if problem.is_about_type and problem.tensor is not None and is_wrong(problem.tensor)
    }
    return " and ".join(sorted(names))


def _has_free_inputs(graph: Graph) -> bool:
    return any(-1 in graph.tensors[index].shape_signature[1:] for index in graph.inputs)


def _breaks(findings: Sequence[Finding], rule: str) -> bool:
    return any(violation.rule == rule for violation, _ in findings)


def _of_wrong_type(findings: Sequence[Finding]) -> list[Tensor]:
    return [
        problem.tensor
        for _, problem in findings
        if problem.is_about_type and problem.tensor is not None
    ]


def _weights(graph: Graph) -> Iterator[Tensor]:
    for operator in graph.operators:
        weights = graph.operand(operator, 1) if operator.name in _WEIGHTED else None
        if weights is not None:
            yield weights
