"""Support rules for the model as a whole, and the first rule for operators."""

from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.operators import OPERATORS

__all__ = ["MODEL_RULES", "is_a_known_operator"]


def is_a_known_operator(operator: Operator) -> Iterator[Problem]:
    """Every operator is one of those listed."""
    if operator.name not in OPERATORS:
        yield Problem("operator must be one of those that docs/supported.md lists")


def has_one_subgraph(graph: Graph) -> Iterator[Problem]:
    """Models have one subgraph."""
    if graph.subgraph_count != 1:
        yield Problem(f"number of subgraphs must be 1, not {graph.subgraph_count}")


def computes_its_outputs(graph: Graph) -> Iterator[Problem]:
    """No output of the model is a constant."""
    for index in graph.outputs:
        tensor = graph.tensors[index]
        if tensor.is_constant:
            yield Problem("model output must be computed, not be a constant", tensor)


MODEL_RULES = (has_one_subgraph, computes_its_outputs)
