"""What may be wrong with shapes and operands of operators of several kinds."""

from collections.abc import Iterator, Sequence

from kiwicha.compiler.check.rules import Problem
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor

__all__ = ["axis_problems", "length_problems", "shape_problems"]


def shape_problems(output: Tensor, expected: Sequence[int]) -> Iterator[Problem]:
    """Yield what is wrong if a tensor does not have the shape that follows from others."""
    if list(output.shape) != list(expected):
        yield Problem(f"output must be {list(expected)}, not {list(output.shape)}", output)


def axis_problems(axis: int, rank: int, tensor: Tensor | None = None) -> Iterator[Problem]:
    """Yield what is wrong if an axis, which may count from the last one, does not exist."""
    if not -rank <= axis < rank:
        yield Problem(f"axis must be {-rank} to {rank - 1}, not {axis}", tensor)


def length_problems(
    graph: Graph, operator: Operator, position: int, what: str, count: int
) -> Iterator[Problem]:
    """Yield what is wrong if an operand does not have so many values."""
    tensor = graph.input(operator, position)
    if tensor.elements != count:
        yield Problem(f"{what} must have {count} values, not {tensor.elements}", tensor)
