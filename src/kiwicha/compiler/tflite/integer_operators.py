"""Which operators of a model compute with plain integers, and which read computed indices."""

from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.operators import OPERATORS, Family
from kiwicha.compiler.tflite.slices import index_runs
from kiwicha.compiler.tflite.tensor import TensorType

__all__ = ["DIVISION", "MAX_RUNS", "computes_integers", "is_steered"]

DIVISION = "DIV"
MAX_RUNS = 1024
"""Of positions that GATHER copies run by run: each is a step of the Program."""
_CHOICES = frozenset({"MAXIMUM", "MINIMUM"})
"""Of two int16 the interpreter takes one as it is, whatever their scales."""
_SCALED = frozenset({TensorType.INT8, TensorType.INT16})
"""Types that arithmetic takes scales of."""


def computes_integers(graph: Graph, operator: Operator) -> bool:
    """Whether an operator computes with integers or booleans as they are, without scales.

    Comparisons do, whatever they compare: scaled bytes are looked up. DIV of bytes does not.
    """
    if operator.name == DIVISION and graph.input(operator).type in _SCALED:
        return False
    family = OPERATORS[operator.name].family if operator.name in OPERATORS else Family.NONE
    if Family.INTEGER in family:
        return True
    if operator.name in _CHOICES and graph.input(operator).type is TensorType.INT16:
        return True
    return Family.BROADCAST in family and graph.input(operator).type not in _SCALED


def is_steered(graph: Graph, operator: Operator) -> bool:
    """Whether an operator moves data to or from places that are known only when it runs.

    So are those of GATHER if they are computed, or a constant of too many runs.
    """
    kind = OPERATORS[operator.name]
    if Family.INDEXED not in kind.family or Family.MOVE not in kind.family:
        return Family.INDEXED in kind.family
    (position,) = kind.indices
    indices = graph.input(operator, position)
    return not indices.is_constant or len(index_runs(indices.integers())) > MAX_RUNS
