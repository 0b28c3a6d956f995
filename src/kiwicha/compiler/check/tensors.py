"""Support rules for operands: how many, of which type, shape and quantization.

Rules of `COUNT_RULES` come first; those of `OPERAND_RULES` rely on them.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from kiwicha.compiler.check.rules import (
    OperatorCheck,
    Problem,
    Rule,
    activation_positions,
    operands,
    rule,
    rule_text,
)
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.operators import CARRIED_TYPES, OPERATORS, Family, of_family
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.contract.program import MAX_RANK

__all__ = ["COUNT_RULES", "OPERAND_RULES", "TENSOR_RULES"]

TensorCheck = Callable[[str, Tensor], Iterator[Problem]]

COUNT_RULES: list[Rule] = []
OPERAND_RULES: list[Rule] = []


@rule(COUNT_RULES)
def has_its_operands(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Operators have one output and every input they need; only a bias may be left out.

    SPLIT, SPLIT_V and UNPACK have any number of outputs, TOPK_V2 two, ASSIGN_VARIABLE and CALL_ONCE
    none.
    """
    kind = OPERATORS[operator.name]
    outputs = len(operator.outputs)
    if outputs != kind.outputs and (Family.SPLIT not in kind.family or not outputs):
        yield Problem(f"number of outputs must be {kind.outputs}, not {outputs}")
    needed = len(activation_positions(operator)) + len(kind.constants)
    needed += len(kind.indices) + kind.extra_inputs
    allowed = needed + kind.optional_inputs
    present = [graph.operand(operator, position) is not None for position in range(needed)]
    if not all(present):
        yield Problem(f"inputs 0 to {needed - 1} must be present, not only {sum(present)} of them")
    if len(operator.inputs) > allowed:
        yield Problem(f"number of inputs must be at most {allowed}, not {len(operator.inputs)}")


_ALLOWED_TEXTS = {TensorType.INT8: "int8 or uint8"}
"""uint8 is int8 here: see `kiwicha.compiler.tflite.uint8_as_int8`."""
_LONG_PARAMETERS = ("BROADCAST_TO", "FILL", "SLICE", "TILE")
_CONVERSIONS = frozenset({"QUANTIZE", "CAST"})


def has_a_type_for_its_place(what: str, tensor: Tensor) -> Iterator[Problem]:
    """Activations are int8 or uint8; only QUANTIZE reads float32 and only DEQUANTIZE gives it.

    ARG_MAX and ARG_MIN give int32 or int64. QUANTIZE can read and give int16 and int32, SOFTMAX of
    int8 give int16. Operators that only move data, CAST, variables, and inputs and outputs of the
    model, can have any of these types, int16 and bool. Others compute with int16, integers or
    booleans where the table of operators says so.
    """
    yield from _type_problems(what, tensor, CARRIED_TYPES)


def _type_problems(what: str, tensor: Tensor, allowed: tuple[TensorType, ...]) -> Iterator[Problem]:
    if tensor.type not in allowed:
        names = " or ".join(_ALLOWED_TEXTS.get(kind, kind.text) for kind in allowed)
        yield Problem(f"{what} must be {names}, not {tensor.type.text}", tensor, is_about_type=True)


def _check_types(graph: Graph, operator: Operator) -> Iterator[Problem]:
    found = list(operands(graph, operator))
    if Family.MOVE in OPERATORS[operator.name].family and found[-1][1].type in CARRIED_TYPES:
        kind = found[-1][1].type
        for what, tensor in found:
            yield from _type_problems(what, tensor, (kind,))
        return
    for what, tensor in found:
        allowed = OPERATORS[operator.name].types.get(what, (TensorType.INT8,))
        yield from _type_problems(what, tensor, allowed)


@rule(OPERAND_RULES, *(name for name, kind in OPERATORS.items() if kind.alike))
def has_operands_of_one_type(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Tensors that are compared, combined or moved have one type."""
    kind = OPERATORS[operator.name]
    found = {what: tensor.type for what, tensor in operands(graph, operator) if what in kind.alike}
    types = list(dict.fromkeys(item.text for item in found.values()))
    # What can have none of these types is another rule's problem.
    if len(types) > 1 and all(item in kind.types[what] for what, item in found.items()):
        yield Problem(f"{' and '.join(found)} must have one type, not {' and '.join(types)}")


@rule(OPERAND_RULES, *(name for name, kind in OPERATORS.items() if kind.indices))
def has_integer_indices(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Indices are int32 or int64, constants or computed."""
    for position, what in OPERATORS[operator.name].indices.items():
        tensor = graph.input(operator, position)
        if tensor.type not in {TensorType.INT32, TensorType.INT64}:
            yield Problem(
                f"{what} must be int32 or int64, not {tensor.type.text}", tensor, is_about_type=True
            )
        for check in (has_a_fixed_shape, has_few_dimensions, has_plain_storage):
            yield from check(what, tensor)


def has_a_fixed_shape(what: str, tensor: Tensor) -> Iterator[Problem]:
    """Every dimension is 1 or more; in a shape signature only the first, the batch, may be -1."""
    signature = tensor.shape_signature
    if min(tensor.shape, default=1) < 1:
        yield Problem(f"{what} must have dimensions of 1 or more, not {list(tensor.shape)}", tensor)
    elif -1 in signature[1:]:
        yield Problem(f"{what} must have a fixed shape, not {list(signature)}", tensor)


def has_few_dimensions(what: str, tensor: Tensor) -> Iterator[Problem]:
    """Tensors have up to 6 dimensions."""
    if len(tensor.shape) > MAX_RANK:
        yield Problem(
            f"{what} must have at most {MAX_RANK} dimensions, not {len(tensor.shape)}", tensor
        )


def has_one_scale(what: str, tensor: Tensor) -> Iterator[Problem]:
    """Activations have one scale, finite and more than 0, and one zero point in their range.

    Inputs and outputs of the model, and what is only moved, converted or chosen, need none.
    """
    if tensor.type is not TensorType.INT8:
        return
    parameters = tensor.quantization
    if parameters is None:
        return
    if len(parameters.scales) != 1:
        yield Problem(f"{what} must have one scale, not {len(parameters.scales)}", tensor)
    if not (math.isfinite(parameters.scale) and parameters.scale > 0):
        yield Problem(
            f"{what}'s scale must be finite and more than 0, not {parameters.scale}", tensor
        )
    yield from _zero_point_problems(f"{what}'s", tensor)


def _zero_point_problems(whose: str, tensor: Tensor) -> Iterator[Problem]:
    zero_point = 0 if tensor.quantization is None else tensor.quantization.zero_point
    if not -128 <= zero_point <= 127:
        yield Problem(
            f"{whose} zero point must be {tensor.shift - 128} to {tensor.shift + 127}, "
            f"not {zero_point + tensor.shift}",
            tensor,
        )


def _check_scales(graph: Graph, operator: Operator) -> Iterator[Problem]:
    for what, tensor in operands(graph, operator):
        is_needed = OPERATORS[operator.name].is_scaled and tensor.type is TensorType.INT8
        if is_needed and tensor.quantization is None:
            yield Problem(f"{what} must have a scale and a zero point, not none", tensor)
        yield from has_one_scale(what, tensor)


def has_plain_storage(what: str, tensor: Tensor) -> Iterator[Problem]:
    """Tensors are dense, and only states of LSTM and SVDF are variable tensors."""
    if tensor.is_variable:
        yield Problem(f"{what} must not be a variable tensor", tensor)
    if tensor.is_sparse:
        yield Problem(f"{what} must be dense, not sparse", tensor)


def _on_operands(check: TensorCheck) -> OperatorCheck:
    def check_operands(graph: Graph, operator: Operator) -> Iterator[Problem]:
        for what, tensor in operands(graph, operator):
            yield from check(what, tensor)

    return check_operands


TENSOR_RULES: dict[str, TensorCheck] = {
    rule_text(check): check
    for check in (
        has_a_type_for_its_place,
        has_a_fixed_shape,
        has_few_dimensions,
        has_one_scale,
        has_plain_storage,
    )
}
_OPERATOR_CHECKS: dict[TensorCheck, OperatorCheck] = {
    has_a_type_for_its_place: _check_types,
    has_one_scale: _check_scales,
}
OPERAND_RULES.extend(
    Rule(tuple(OPERATORS), text, _OPERATOR_CHECKS.get(check) or _on_operands(check))
    for text, check in TENSOR_RULES.items()
)


@rule(OPERAND_RULES, *of_family(Family.WEIGHTED))
def has_constant_weights(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Weights are constants: int8 with zero point 0, or uint8 with one zero point.

    Where all operators that read them are CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED they can be
    int4, with zero point 0. In ONNX models those of int8 can have one zero point, too. Weights of a
    FULLY_CONNECTED of int8 can be computed: they then have one scale and one zero point.
    """
    weights = graph.input(operator, 1)
    if operator.name == "FULLY_CONNECTED" and not weights.is_constant:
        yield from _computed_weights_problems(graph, operator, weights)
        return
    if weights.type is not TensorType.INT8:
        yield Problem(
            f"weights must be int8 or uint8, not {weights.type.text}", weights, is_about_type=True
        )
        return
    if not weights.is_constant or weights.is_sparse:
        yield Problem("weights must be a dense constant", weights)
    if weights.quantization is None:
        yield Problem("weights must have scales and zero points, not none", weights)
    elif weights.is_shifted or graph.is_onnx:
        if weights.is_shifted and len(weights.quantization.scales) != 1:
            count = len(weights.quantization.scales)
            yield Problem(f"uint8 weights must have one scale, not {count}", weights)
        yield from _zero_point_problems("weights'", weights)
    elif weights.quantization.zero_points.any():
        yield Problem("weights' zero point must be 0", weights)


def _computed_weights_problems(
    graph: Graph, operator: Operator, weights: Tensor
) -> Iterator[Problem]:
    types = {tensor.type for tensor in (weights, graph.input(operator))}
    if types != {TensorType.INT8} or weights.is_shifted:
        kind = "uint8" if weights.is_shifted else weights.type.text
        yield Problem(
            f"computed weights and their input must be int8, not {kind}",
            weights,
            is_about_type=True,
        )
        return
    if weights.quantization is None:
        yield Problem("weights must have a scale and a zero point, not none", weights)
    for check in (has_one_scale, has_plain_storage):
        yield from check("matrix of weights", weights)


@rule(OPERAND_RULES)
def has_one_signedness(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Activations and weights are all int8 or all uint8, except in QUANTIZE and CAST."""
    if operator.name in _CONVERSIONS:
        return
    tensors = [tensor for _, tensor in operands(graph, operator)]
    if Family.WEIGHTED in OPERATORS[operator.name].family:
        tensors.append(graph.input(operator, 1))
    is_shifted = {tensor.is_shifted for tensor in tensors if tensor.type is TensorType.INT8}
    if len(is_shifted) > 1:
        yield Problem("activations and weights must be all int8 or all uint8, not both")


@rule(OPERAND_RULES, *(name for name, kind in OPERATORS.items() if kind.is_signed))
def has_kernels_somewhere(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Activations are int8, not uint8: no interpreter has a kernel for that."""
    for what, tensor in operands(graph, operator):
        if tensor.is_shifted:
            yield Problem(f"{what} must be int8, not uint8", tensor, is_about_type=True)


@rule(OPERAND_RULES, *of_family(Family.WEIGHTED))
def has_weight_scales(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Weights have one scale or one per output channel, finite and not negative."""
    weights = graph.input(operator, 1)
    parameters = weights.quantization
    rank = 2 if operator.name == "FULLY_CONNECTED" else 4
    if len(weights.shape) != rank or min(weights.shape) < 1:
        yield Problem(f"weights must have {rank} dimensions, not {list(weights.shape)}", weights)
        return
    if parameters is None:
        return
    dimension = 3 if operator.name == "DEPTHWISE_CONV_2D" else 0
    channels, count = weights.shape[dimension], len(parameters.scales)
    if count not in {1, channels}:
        yield Problem(f"weights must have 1 or {channels} scales, not {count}", weights)
    elif count > 1 and parameters.dimension != dimension:
        yield Problem(
            f"weights must be quantized along dimension {dimension}, not {parameters.dimension}",
            weights,
        )
    if not (np.isfinite(parameters.scales).all() and (parameters.scales >= 0).all()):
        yield Problem("weights' scales must be finite and not negative", weights)


@rule(OPERAND_RULES, *of_family(Family.WEIGHTED))
def has_a_constant_bias(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Biases are constants with one value per output channel: int32 if activations are bytes."""
    bias = graph.operand(operator, 2)
    if bias is None:
        return
    is_of_bytes = graph.input(operator).type is not TensorType.INT16
    if is_of_bytes and bias.type is not TensorType.INT32:
        yield Problem(f"bias must be int32, not {bias.type.text}", bias, is_about_type=True)
    elif not bias.is_constant or bias.is_sparse:
        yield Problem("bias must be a dense constant", bias)
    shape = graph.input(operator, 1).shape
    channels = shape[-1 if operator.name == "DEPTHWISE_CONV_2D" else 0] if shape else 0
    if bias.elements != channels:
        yield Problem(f"bias must have {channels} values, not {bias.elements}", bias)


@rule(OPERAND_RULES, *(name for name, kind in OPERATORS.items() if kind.constants))
def has_constant_parameters(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Axes, sizes, paddings and similar are int32 constants.

    In BROADCAST_TO, FILL, SLICE and TILE they can be int64.
    """
    for position, what in OPERATORS[operator.name].constants.items():
        tensor = graph.input(operator, position)
        is_long = operator.name in _LONG_PARAMETERS and tensor.type is TensorType.INT64
        if tensor.type is not TensorType.INT32 and not is_long:
            yield Problem(f"{what} must be int32, not {tensor.type.text}", tensor)
        elif not tensor.is_constant or tensor.is_sparse:
            yield Problem(f"{what} must be a dense constant", tensor)
