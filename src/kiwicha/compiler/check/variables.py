"""Support rules for variables: what a model keeps from one inference to the next."""

from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.compiler.tflite.variables import (
    ASSIGN,
    CALL_ONCE,
    HANDLE,
    READ,
    first_values,
    variable_of,
)

__all__ = ["VARIABLE_RULES"]

VARIABLE_RULES: list[Rule] = []


@rule(VARIABLE_RULES, READ, ASSIGN)
def has_a_handle(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """What is read or assigned is named by a VAR_HANDLE of the same subgraph."""
    if variable_of(graph, operator) is None:
        yield Problem("input 0 must be the output of a VAR_HANDLE", graph.input(operator))


@rule(VARIABLE_RULES, CALL_ONCE)
def only_sets_variables(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """CALL_ONCE executes another subgraph, which only assigns constants to variables."""
    (number,) = operator.options.subgraphs
    if not 1 <= number <= len(graph.others):
        yield Problem(f"subgraph must be 1 to {len(graph.others)}, not {number}")
        return
    other = graph.others[number - 1]
    for item in other.operators:
        where = f"operator {item.index} {item.name} of subgraph {number}"
        if item.name == HANDLE:
            continue
        value = other.operand(item, 1)
        if item.name != ASSIGN:
            yield Problem(f"{where} must be {HANDLE} or {ASSIGN}")
        elif variable_of(other, item) is None or value is None:
            yield Problem(f"{where} must have the output of a {HANDLE} and a value")
        elif value.data is None or value.is_sparse:
            yield Problem(f"{where} must assign a dense constant", value)


@rule(VARIABLE_RULES, ASSIGN, CALL_ONCE)
def is_assigned_once(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """A variable is assigned once in an inference, and once by all CALL_ONCEs."""
    if operator.name == ASSIGN:
        name = variable_of(graph, operator)
        for other in graph.operators[: operator.index]:
            if name is not None and other.name == ASSIGN and variable_of(graph, other) == name:
                yield Problem(
                    f"variable {name[1]!r} must be assigned once, not also by operator "
                    f"{other.index}"
                )
        return
    known: dict[tuple[str, str], int] = {}
    for name, value in first_values(graph):
        if name in known and value.call == operator.index:
            yield Problem(
                f"variable {name[1]!r} must be set once, not also by operator {known[name]} "
                f"{CALL_ONCE}"
            )
        known.setdefault(name, value.call)


@rule(VARIABLE_RULES, READ, ASSIGN)
def is_set_first(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """A variable is set before it is read: by an assignment, or before all others by CALL_ONCE."""
    name = variable_of(graph, operator)
    if name is None:
        return
    calls = [value.call for known, value in first_values(graph) if known == name]
    if calls and calls[0] > operator.index:
        yield Problem(
            f"variable {name[1]!r} must be set before, not by operator {calls[0]} {CALL_ONCE}"
        )
    is_assigned = any(
        item.name == ASSIGN and variable_of(graph, item) == name
        for item in graph.operators[: operator.index]
    )
    if operator.name == READ and not calls and not is_assigned:
        yield Problem(f"variable {name[1]!r} must be set by {CALL_ONCE} or {ASSIGN} before")


@rule(VARIABLE_RULES, READ, ASSIGN)
def has_one_type_and_shape(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """All values of a variable have one type and one shape."""
    name = variable_of(graph, operator)
    own = _value(graph, operator)
    if name is None or own is None:
        return
    values = [(f"operator {v.call}", v.tensor) for n, v in first_values(graph) if n == name]
    for item in graph.operators[: operator.index]:
        value = _value(graph, item)
        if value is not None and variable_of(graph, item) == name:
            values.append((f"operator {item.index}", value))
    for where, value in values[:1]:
        if (own.type, own.is_shifted, own.shape) != (value.type, value.is_shifted, value.shape):
            yield Problem(
                f"variable {name[1]!r} must be {_described(value)}, as in {where}, "
                f"not {_described(own)}",
                own,
            )


def _value(graph: Graph, operator: Operator) -> Tensor | None:
    """Return what an operator reads from a variable or assigns to it."""
    if operator.name == READ and operator.outputs:
        return graph.output(operator)
    return graph.operand(operator, 1) if operator.name == ASSIGN else None


def _described(tensor: Tensor) -> str:
    return f"{'uint8' if tensor.is_shifted else tensor.type.text} {list(tensor.shape)}"
