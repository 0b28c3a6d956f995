"""Support rules: registry and helpers.

A rule is a small function that yields a `Problem` for whatever it finds wrong; its docstring is the
rule's text, in error messages and in the documentation.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kiwicha.compiler.tflite.graph import Graph, Operator, Quantization, Tensor, TensorType

__all__ = [
    "ACTIVATIONS",
    "BROADCASTS",
    "CONSTANT_OPERANDS",
    "EXTRA_INPUTS",
    "JOINS",
    "MOVES",
    "OPERATORS",
    "OPTIONAL_INPUTS",
    "OTHER_TYPES",
    "PAIRS",
    "POOLS",
    "REDUCTIONS",
    "RESHAPES",
    "SPLITS",
    "UNARIES",
    "WITH_WEIGHTS",
    "OperatorCheck",
    "Problem",
    "Rule",
    "activation_positions",
    "operands",
    "quantization",
    "rule",
    "rule_text",
]

ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "ADD": ("input 1", "input 2"),
    "ARG_MAX": ("input",),
    "AVERAGE_POOL_2D": ("input",),
    "BATCH_TO_SPACE_ND": ("input",),
    "CONCATENATION": ("input",),
    "CONV_2D": ("input",),
    "DEPTHWISE_CONV_2D": ("input",),
    "DEQUANTIZE": ("input",),
    "DEPTH_TO_SPACE": ("input",),
    "EXPAND_DIMS": ("input",),
    "FULLY_CONNECTED": ("input",),
    "HARD_SWISH": ("input",),
    "LEAKY_RELU": ("input",),
    "LOGISTIC": ("input",),
    "MAXIMUM": ("input 1", "input 2"),
    "MAX_POOL_2D": ("input",),
    "MEAN": ("input",),
    "MINIMUM": ("input 1", "input 2"),
    "MUL": ("input 1", "input 2"),
    "PACK": ("input",),
    "PAD": ("input",),
    "PRELU": ("input", "alpha"),
    "PADV2": ("input",),
    "QUANTIZE": ("input",),
    "REDUCE_MAX": ("input",),
    "RELU": ("input",),
    "RELU6": ("input",),
    "RESHAPE": ("input",),
    "RESIZE_BILINEAR": ("input",),
    "RESIZE_NEAREST_NEIGHBOR": ("input",),
    "SLICE": ("input",),
    "SOFTMAX": ("input",),
    "SPACE_TO_BATCH_ND": ("input",),
    "SPACE_TO_DEPTH": ("input",),
    "SPLIT": ("input",),
    "SPLIT_V": ("input",),
    "SQUEEZE": ("input",),
    "STRIDED_SLICE": ("input",),
    "SUB": ("input 1", "input 2"),
    "SUM": ("input",),
    "TANH": ("input",),
    "TILE": ("input",),
    "TRANSPOSE": ("input",),
    "TRANSPOSE_CONV": ("input",),
    "UNPACK": ("input",),
}
"""Supported operators and what their activations are called, inputs from the first on."""
OTHER_TYPES: dict[tuple[str, str], tuple[TensorType, ...]] = {
    ("ARG_MAX", "output"): (TensorType.INT32,),
    ("DEQUANTIZE", "output"): (TensorType.FLOAT32,),
    ("QUANTIZE", "input"): (TensorType.INT8, TensorType.FLOAT32),
}
"""Types of operands that are not, or not only, int8."""
OPERATORS = tuple(ACTIVATIONS)
WITH_WEIGHTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
POOLS = ("AVERAGE_POOL_2D", "MAX_POOL_2D")
PAIRS = ("ADD", "SUB", "MUL")
BROADCASTS = (*PAIRS, "MAXIMUM", "MINIMUM", "PRELU")
REDUCTIONS = ("MEAN", "REDUCE_MAX", "SUM")
UNARIES = (
    "DEQUANTIZE",
    "HARD_SWISH",
    "LEAKY_RELU",
    "LOGISTIC",
    "QUANTIZE",
    "RELU",
    "RELU6",
    "TANH",
)
"""Operators on single values, which become a table."""
RESHAPES = ("EXPAND_DIMS", "RESHAPE", "SQUEEZE")
JOINS = ("CONCATENATION", "PACK")
"""Operators with any number of activations, all of their inputs."""
SPLITS = ("SPLIT", "SPLIT_V", "UNPACK")
"""Operators with any number of outputs."""
MOVES = (
    *("BATCH_TO_SPACE_ND", "CONCATENATION", "DEPTH_TO_SPACE", "EXPAND_DIMS", "PACK", "PAD"),
    *("PADV2", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR", "SLICE", "SPACE_TO_BATCH_ND"),
    *("SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "TILE", "TRANSPOSE"),
    "UNPACK",
)
"""Operators that only move data."""
CONSTANT_OPERANDS: dict[str, dict[int, str]] = {
    "ARG_MAX": {1: "axis"},
    "BATCH_TO_SPACE_ND": {1: "block shape", 2: "crops"},
    "EXPAND_DIMS": {1: "axis"},
    **{name: {1: "axes"} for name in REDUCTIONS},
    "PAD": {1: "paddings"},
    "PADV2": {1: "paddings"},
    "RESIZE_BILINEAR": {1: "size"},
    "RESIZE_NEAREST_NEIGHBOR": {1: "size"},
    "SLICE": {1: "begin", 2: "size"},
    "SPACE_TO_BATCH_ND": {1: "block shape", 2: "paddings"},
    "SPLIT": {0: "axis"},
    "SPLIT_V": {1: "sizes", 2: "axis"},
    "STRIDED_SLICE": {1: "begin", 2: "end", 3: "strides"},
    "TILE": {1: "multiples"},
    "TRANSPOSE": {1: "permutation"},
}
"""Operators with inputs that are constants of type int32, and what those are called."""
EXTRA_INPUTS = {**dict.fromkeys(WITH_WEIGHTS, 1), "PADV2": 1}
"""Inputs behind those, which other rules are about."""
OPTIONAL_INPUTS = {**dict.fromkeys(WITH_WEIGHTS, 1), "RESHAPE": 1, "TRANSPOSE_CONV": 2}
"""Inputs behind those, which may be left out."""


@dataclass(frozen=True)
class Problem:
    """What is wrong: ``<thing> must be <rule>, not <value>``, and the tensor that is meant."""

    text: str
    tensor: Tensor | None = None
    is_about_type: bool = False


OperatorCheck = Callable[[Graph, Operator], Iterator[Problem]]
F = TypeVar("F", bound=OperatorCheck)


@dataclass(frozen=True)
class Rule:
    """A rule and the operators it is for."""

    operators: tuple[str, ...]
    text: str
    check: OperatorCheck


def rule(group: list[Rule], *operators: str) -> Callable[[F], F]:
    """Return a decorator that adds a rule to ``group``, for ``operators`` or for all."""

    def register(function: F) -> F:
        group.append(Rule(operators or OPERATORS, rule_text(function), function))
        return function

    return register


def rule_text(function: Callable[..., object]) -> str:
    """Return a rule's docstring on one line."""
    return " ".join((inspect.getdoc(function) or "").split())


def activation_positions(operator: Operator) -> list[int]:
    """Return the positions of the inputs that are activations."""
    if operator.name in JOINS:
        return list(range(max(len(operator.inputs), 1)))
    constants = CONSTANT_OPERANDS.get(operator.name, {})
    count = len(ACTIVATIONS[operator.name])
    return [position for position in range(count + 1) if position not in constants][:count]


def operands(graph: Graph, operator: Operator) -> Iterator[tuple[str, Tensor]]:
    """Yield what the operator's activations are called, and the tensors."""
    names = ACTIVATIONS[operator.name]
    positions = activation_positions(operator)
    for number, position in enumerate(positions):
        name = names[number] if len(positions) == len(names) else f"input {number + 1}"
        yield name, graph.input(operator, position)
    for number, index in enumerate(operator.outputs):
        name = "output" if len(operator.outputs) == 1 else f"output {number + 1}"
        yield name, graph.tensors[index]


def quantization(tensor: Tensor) -> Quantization:
    """Return the quantization of a tensor that passed the tensor rules."""
    assert tensor.quantization is not None
    return tensor.quantization
