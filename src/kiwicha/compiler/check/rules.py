"""Support rules: registry and helpers.

A rule is a small function that yields a `Problem` for whatever it finds wrong; its docstring is the
rule's text, in error messages and in the documentation.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.operators import OPERATORS, Family
from kiwicha.compiler.tflite.tensor import Tensor

__all__ = [
    "OperatorCheck",
    "Problem",
    "Rule",
    "activation_positions",
    "operands",
    "rule",
    "rule_text",
]


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
        group.append(Rule(operators or tuple(OPERATORS), rule_text(function), function))
        return function

    return register


def rule_text(function: Callable[..., object]) -> str:
    """Return a rule's docstring on one line."""
    return " ".join((inspect.getdoc(function) or "").split())


def activation_positions(operator: Operator) -> list[int]:
    """Return the positions of the inputs that are activations."""
    kind = OPERATORS[operator.name]
    if Family.JOIN in kind.family:
        return list(range(max(len(operator.inputs), 1)))
    count = len(kind.activations)
    others = {*kind.constants, *kind.indices}
    return [position for position in range(count + len(others)) if position not in others][:count]


def operands(graph: Graph, operator: Operator) -> Iterator[tuple[str, Tensor]]:
    """Yield what the operator's activations are called, and the tensors."""
    names = OPERATORS[operator.name].activations
    positions = activation_positions(operator)
    for number, position in enumerate(positions):
        name = names[number] if len(positions) == len(names) else f"input {number + 1}"
        yield name, graph.input(operator, position)
    for number, index in enumerate(operator.outputs):
        name = "output" if len(operator.outputs) == 1 else f"output {number + 1}"
        yield name, graph.tensors[index]
