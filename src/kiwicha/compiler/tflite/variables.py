"""Variables: what a model keeps from one inference to the next.

In the file a variable is named by the resource that a VAR_HANDLE gives, read and assigned by
operators, and set once by a subgraph that CALL_ONCE executes. For the compiler it is two tensors at
the same place: one that is there at the beginning of an inference, one that is written at its end.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kiwicha.compiler.tflite.graph import Graph, Operator, State
from kiwicha.compiler.tflite.tensor import Tensor

__all__ = [
    "ASSIGN",
    "CALL_ONCE",
    "HANDLE",
    "READ",
    "SLICES",
    "FirstValue",
    "first_values",
    "variable_of",
    "with_states",
    "writers_last",
]

HANDLE, READ, ASSIGN = "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"
CALL_ONCE = "CALL_ONCE"
SLICES = ("SLICE", "STRIDED_SLICE")
"""Operators that can write a variable by themselves, as late as wanted."""
_JOIN = "CONCATENATION"

Name = tuple[str, str]
"""Container and name."""


@dataclass(frozen=True, eq=False)
class FirstValue:
    """What a subgraph that is executed once assigns to a variable.

    Parameters
    ----------
    call : int
        Index of the CALL_ONCE.
    tensor : Tensor
        Of its subgraph.
    """

    call: int
    tensor: Tensor


def variable_of(graph: Graph, operator: Operator) -> Name | None:
    """Return the variable that an operator reads or assigns; None if it is not known."""
    return graph.variables.get(operator.inputs[0]) if operator.inputs else None


def first_values(graph: Graph) -> Iterator[tuple[Name, FirstValue]]:
    """Yield every assignment in the subgraphs that CALL_ONCE names and that exist, in order."""
    for call in graph.operators:
        for number in call.options.subgraphs if call.name == CALL_ONCE else ():
            if not 1 <= number <= len(graph.others):
                continue
            other = graph.others[number - 1]
            for operator in other.operators:
                name = variable_of(other, operator) if operator.name == ASSIGN else None
                if name is not None and len(operator.inputs) > 1:
                    yield name, FirstValue(call.index, other.input(operator, 1))


def with_states(graph: Graph) -> Graph:
    """Return a model whose variables are states: tensors that are there from the beginning.

    Operators keep their places. Those that have nothing left to do read and write nothing.

    Parameters
    ----------
    graph : Graph
        A model that `kiwicha.compiler.check.check.check` accepts.
    """
    if not any(operator.name in {HANDLE, READ, ASSIGN, CALL_ONCE} for operator in graph.operators):
        return graph
    tensors, operators = list(graph.tensors), list(graph.operators)
    firsts = {name: value.tensor for name, value in first_values(graph)}
    held: dict[Name, int] = {}
    copies: dict[int, int] = {}
    befores: dict[Name, int] = {}
    assigned: dict[Name, Operator] = {}

    def new(like: Tensor, name: str) -> int:
        tensors.append(
            dataclasses.replace(like, index=len(tensors), name=name, data=None, is_variable=False)
        )
        return len(tensors) - 1

    for operator in graph.operators:
        changed = dataclasses.replace(operator, inputs=(), outputs=())
        name = variable_of(graph, operator) if operator.name in {READ, ASSIGN} else None
        if operator.name == READ:
            assert name is not None
            output = graph.output(operator)
            if name not in held:
                held[name] = befores[name] = new(output, f"{name[1]} before")
            copies[output.index] = held[name]
            changed = dataclasses.replace(operator, inputs=(held[name],))
        elif operator.name == ASSIGN:
            assert name is not None
            held[name] = operator.inputs[1]
            assigned[name] = operator
        elif operator.name not in {HANDLE, CALL_ONCE}:
            continue
        operators[operator.index] = changed
    states = []
    found = dataclasses.replace(graph, operators=tuple(operators))
    for name, before in befores.items():
        first = firsts[name].data
        assert first is not None
        if name not in assigned or copies.get(held[name]) == before:
            # It never changes.
            tensors[before] = dataclasses.replace(tensors[before], data=first)
            continue
        writer = _slicer(graph, found, held[name])
        after = held[name]
        if writer is None:
            writer = assigned[name]
            after = new(tensors[before], f"{name[1]} after")
            operators[writer.index] = dataclasses.replace(
                writer, inputs=(held[name],), outputs=(after,)
            )
        states.append(State(name[1], before, after, writer.index, first.tobytes()))
    return dataclasses.replace(
        graph, tensors=tuple(tensors), operators=tuple(operators), states=tuple(states)
    )


def writers_last(graph: Graph, order: Sequence[Operator]) -> tuple[Operator, ...]:
    """Return operators in an order in which those that write states come behind all others."""
    writers = {s.writer: graph.operators[s.writer] for s in graph.states if not s.is_own}
    others = tuple(operator for operator in order if operator.index not in writers)
    return (*others, *writers.values())


def _slicer(before: Graph, now: Graph, tensor: int) -> Operator | None:
    """Return the operator that takes a tensor, which is only assigned, out of a joined one.

    It can be executed at the end, and write the variable by itself.
    """
    makers = {output: operator for operator in now.operators for output in operator.outputs}
    maker = makers.get(tensor)
    uses = sum(operator.inputs.count(tensor) for operator in before.operators)
    is_read = tensor in now.outputs or any(tensor in operator.inputs for operator in now.operators)
    if maker is None or uses != 1 or is_read or maker.name not in SLICES:
        return None
    source = makers.get(maker.inputs[0])
    return maker if source is not None and source.name == _JOIN else None
