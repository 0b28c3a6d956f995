"""Support rules of QUANTIZE, DEQUANTIZE and SOFTMAX of what has more than a byte."""

import math
from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.quantization.scales import MAX_SHIFT
from kiwicha.compiler.quantization.unary_scales import rescaling_ratio
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor, TensorType, quantization

__all__ = ["WIDE_OPERAND_RULES", "WIDE_SCALE_RULES"]

WIDE_OPERAND_RULES: list[Rule] = []
WIDE_SCALE_RULES: list[Rule] = []

_RANGES = {TensorType.INT16: (-(2**15), 2**15 - 1), TensorType.INT32: (-(2**31), 2**31 - 1)}


def _is_wide(*tensors: Tensor) -> bool:
    return any(tensor.type in _RANGES for tensor in tensors)


@rule(WIDE_OPERAND_RULES, "QUANTIZE", "SOFTMAX")
def has_types_that_exist(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """QUANTIZE goes between int8, int16 and int32, but not from int32 to int32.

    TensorFlow Lite Micro, whose results are the right ones, has no kernel for that. SOFTMAX of
    int16 gives int16.

    Such a QUANTIZE, and SOFTMAX with an output of int16, has no uint8. From float32 QUANTIZE goes
    to int8, uint8 and int16.
    """
    source, output = graph.input(operator), graph.output(operator)
    if not _is_wide(source, output):
        return
    can_be_real = operator.name == "QUANTIZE" and output.type is TensorType.INT16
    for what, tensor in (("input", source), ("output", output)):
        if tensor.is_shifted or (tensor.type is TensorType.FLOAT32 and not can_be_real):
            kind = "uint8" if tensor.is_shifted else tensor.type.text
            yield Problem(
                f"{what} must be a signed integer, not {kind}", tensor, is_about_type=True
            )
    if operator.name == "SOFTMAX" and source.type is not output.type is TensorType.INT8:
        yield Problem("output must be int16, not int8", output, is_about_type=True)
    if source.type is output.type is TensorType.INT32:
        yield Problem("output must be int8 or int16, not int32", output, is_about_type=True)


@rule(WIDE_OPERAND_RULES, "QUANTIZE", "DEQUANTIZE", "SOFTMAX")
def has_one_wide_scale(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Their int16 and int32 have one scale, finite and more than 0, and one zero point."""
    for what, tensor in (("input", graph.input(operator)), ("output", graph.output(operator))):
        limits, parameters = _RANGES.get(tensor.type), tensor.quantization
        if limits is None:
            continue
        if parameters is None or len(parameters.scales) != 1:
            yield Problem(f"{what} must have one scale and zero point", tensor)
        elif not (math.isfinite(parameters.scale) and parameters.scale > 0):
            yield Problem(
                f"{what}'s scale must be finite and more than 0, not {parameters.scale}", tensor
            )
        elif not limits[0] <= parameters.zero_point <= limits[1]:
            yield Problem(
                f"{what}'s zero point must be {limits[0]} to {limits[1]}, "
                f"not {parameters.zero_point}",
                tensor,
            )


@rule(WIDE_SCALE_RULES, "QUANTIZE")
def rescales_integers_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """QUANTIZE of integers has an input scale of less than 2**30 output scales."""
    source, output = graph.input(operator), graph.output(operator)
    if not _is_wide(source, output) or source.type is TensorType.FLOAT32:
        return
    ratio = rescaling_ratio(quantization(source), quantization(output))
    if not ratio < 2.0**MAX_SHIFT:
        yield Problem(
            f"input scale / output scale must be less than 2**{MAX_SHIFT}, not {ratio}", output
        )
