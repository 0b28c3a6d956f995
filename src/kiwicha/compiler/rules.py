"""Support rules: registry and helpers.

A rule is a small function that yields a `Problem` for whatever it finds wrong; its docstring is the
rule's text, in error messages and in the documentation.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kiwicha.compiler.graph import Graph, Operator, Quantization, Tensor, TensorType

__all__ = [
    "ACTIVATIONS",
    "BROADCASTS",
    "CONSTANT_OPERANDS",
    "OPERATORS",
    "OTHER_TYPES",
    "PAIRS",
    "POOLS",
    "REDUCTIONS",
    "UNARIES",
    "WITH_WEIGHTS",
    "OperatorCheck",
    "Problem",
    "Rule",
    "operands",
    "quantization",
    "rule",
    "rule_text",
]

ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "ADD": ("input 1", "input 2"),
    "ARG_MAX": ("input",),
    "AVERAGE_POOL_2D": ("input",),
    "CONV_2D": ("input",),
    "DEPTHWISE_CONV_2D": ("input",),
    "DEQUANTIZE": ("input",),
    "FULLY_CONNECTED": ("input",),
    "HARD_SWISH": ("input",),
    "LEAKY_RELU": ("input",),
    "LOGISTIC": ("input",),
    "MAXIMUM": ("input 1", "input 2"),
    "MAX_POOL_2D": ("input",),
    "MEAN": ("input",),
    "MINIMUM": ("input 1", "input 2"),
    "MUL": ("input 1", "input 2"),
    "PAD": ("input",),
    "PRELU": ("input", "alpha"),
    "QUANTIZE": ("input",),
    "REDUCE_MAX": ("input",),
    "RELU": ("input",),
    "RELU6": ("input",),
    "RESHAPE": ("input",),
    "SOFTMAX": ("input",),
    "SUB": ("input 1", "input 2"),
    "SUM": ("input",),
    "TANH": ("input",),
}
"""Supported operators and what their first inputs, int8 tensors, are called."""
OTHER_TYPES: dict[tuple[str, str], tuple[TensorType, ...]] = {
    ("ARG_MAX", "output"): (TensorType.INT32,),
    ("DEQUANTIZE", "output"): (TensorType.FLOAT32,),
    ("QUANTIZE", "input"): (TensorType.INT8, TensorType.FLOAT32),
}
"""Types of operands that are not, or not only, int8."""
OPERATORS = tuple(ACTIVATIONS)
WITH_WEIGHTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
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
CONSTANT_OPERANDS = {
    "ARG_MAX": "axis",
    "MEAN": "axes",
    "REDUCE_MAX": "axes",
    "SUM": "axes",
    "PAD": "paddings",
}
"""Operators whose input 1 is a constant of type int32, and what it is called."""


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


def operands(graph: Graph, operator: Operator) -> Iterator[tuple[str, Tensor]]:
    """Yield what the operator's int8 inputs and its output are called, and the tensors."""
    for position, name in enumerate(ACTIVATIONS[operator.name]):
        yield name, graph.input(operator, position)
    yield "output", graph.output(operator)


def quantization(tensor: Tensor) -> Quantization:
    """Return the quantization of a tensor that passed the tensor rules."""
    assert tensor.quantization is not None
    return tensor.quantization
