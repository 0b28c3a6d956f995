"""Support rules for the model as a whole, and the first rule for operators."""

import itertools
from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem
from kiwicha.compiler.tflite.control_flow import CONTROL_FLOW, MAX_ROUNDS
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.operators import OPERATORS
from kiwicha.compiler.tflite.shape_folding import FOLDED_ONLY
from kiwicha.compiler.tflite.variables import CALL_ONCE

__all__ = ["MODEL_RULES", "is_a_known_operator"]


_BOTH_WAYS = "BIDIRECTIONAL_SEQUENCE_LSTM"


def is_a_known_operator(operator: Operator) -> Iterator[Problem]:
    """Every operator is one of those listed; conditions and loops are constant."""
    if operator.name in CONTROL_FLOW:
        yield Problem(
            "condition must follow from constants and shapes, with tensors of one type, shape and "
            f"scale at both ends of its subgraphs, and at most {MAX_ROUNDS:,} rounds"
        )
    elif operator.name in FOLDED_ONLY:
        yield Problem(
            "inputs must be constants of int32, int64 or bool, or fixed shapes, and the output "
            "none of the model"
        )
    elif operator.name == _BOTH_WAYS:
        yield Problem(
            "layer must be two UNIDIRECTIONAL_SEQUENCE_LSTM, one of them between two REVERSE_V2: "
            "TensorFlow Lite Micro, whose results are the right ones, has no kernel for both ways"
        )
    elif operator.name not in OPERATORS:
        yield Problem("operator must be one of those that docs/supported.md lists")


def has_one_subgraph(graph: Graph) -> Iterator[Problem]:
    """Models have one subgraph, and those that CALL_ONCE executes, or IF and WHILE before."""
    called = {number for item in graph.operators for number in _called(item)}
    if any(item.name in CONTROL_FLOW for item in graph.operators):
        # What is executed inside these is not known.
        return
    others = range(1, len(graph.others) + 1)
    idle = [number for number in others if number not in called]
    if idle:
        count = 1 + len(others)
        yield Problem(
            f"number of subgraphs must be {count - len(idle)}, not {count}: no CALL_ONCE executes "
            f"subgraph {idle[0]}"
        )


def _called(operator: Operator) -> tuple[int, ...]:
    return operator.options.subgraphs if operator.name == CALL_ONCE else ()


def has_no_circle_of_calls(graph: Graph) -> Iterator[Problem]:
    """No subgraph executes itself, directly or through others."""
    graphs = (graph, *graph.others)
    done: set[int] = set()

    def circle(number: int, path: tuple[int, ...]) -> tuple[int, ...]:
        if number in path:
            return (*path[path.index(number) :], number)
        if number in done or not number < len(graphs):
            return ()
        called = [n for item in graphs[number].operators for n in item.options.subgraphs if n >= 0]
        for other in dict.fromkeys(called):
            found = circle(other, (*path, number))
            if found:
                return found
        done.add(number)
        return ()

    for number in range(len(graphs)):
        found = circle(number, ())
        if found:
            steps = [
                f"operator {item.index} {item.name} of subgraph {caller} executes subgraph {called}"
                for caller, called in itertools.pairwise(found)
                for item in graphs[caller].operators
                if called in item.options.subgraphs
            ]
            yield Problem(f"subgraphs must not execute each other in circles: {', '.join(steps)}")
            return


def computes_its_outputs(graph: Graph) -> Iterator[Problem]:
    """No output of the model is a constant."""
    for index in graph.outputs:
        tensor = graph.tensors[index]
        if tensor.is_constant:
            yield Problem("model output must be computed, not be a constant", tensor)


MODEL_RULES = (has_one_subgraph, has_no_circle_of_calls, computes_its_outputs)
