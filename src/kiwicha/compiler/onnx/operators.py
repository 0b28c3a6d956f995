"""The ONNX operators that are read: one function each, whose docstring is what it asks for."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.values import Value
from kiwicha.compiler.onnx.writer import Writer

__all__ = ["OPERATORS", "OnnxOperator", "Operands", "onnx_operator"]

Operands = Sequence[Value | None]
Function = Callable[[Writer, Node, Operands], Value | Sequence[Value]]


@dataclass(frozen=True)
class OnnxOperator:
    """An operator that is read.

    Parameters
    ----------
    names : tuple of str
        ONNX's.
    text : str
        What it asks for, in a sentence or two.
    read : callable
        From writer, node and inputs to the outputs.
    """

    names: tuple[str, ...]
    text: str
    read: Function


OPERATORS: dict[str, OnnxOperator] = {}
"""By name."""


def onnx_operator(*names: str) -> Callable[[Function], Function]:
    """Return a decorator for the function that reads these operators."""

    def register(function: Function) -> Function:
        text = " ".join((inspect.getdoc(function) or "").split())
        known = OnnxOperator(names, text, function)
        OPERATORS.update(dict.fromkeys(names, known))
        return function

    return register
