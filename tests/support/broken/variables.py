"""Models that break a support rule of variables or of subgraphs that are executed once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.models.streaming_builder import StreamingBuilder

__all__ = ["BROKEN_VARIABLES"]

SHAPE = (1, 4)
SCALE: dict[str, Any] = {"scale": 0.5}
FIRST = np.int8([[1, 2, 3, 4]])


class Sum(StreamingBuilder):
    """Adds each input to a variable, which each test spoils."""

    def __init__(self, first: Any = FIRST) -> None:
        super().__init__()
        self.variable("kept", first, **SCALE)
        self.x = self.tensor(SHAPE, name="x", **SCALE)

    def added(self, value: int) -> int:
        """Add a tensor to the input."""
        output = self.tensor(SHAPE, **SCALE)
        self.operator("ADD", [self.x, value], [output])
        return output

    def finished(self, outputs: Sequence[int] = ()) -> bytes:
        """Build the model; by default its output is the sum."""
        found = list(outputs) or [self.added(self.read("kept", SHAPE, **SCALE))]
        return self.build([self.x], found)


def twice() -> bytes:
    model = Sum()
    y = model.added(model.read("kept", SHAPE, **SCALE))
    model.assign("kept", y)
    model.assign("kept", model.x)
    return model.finished([y])


def set_twice() -> bytes:
    model = Sum()
    other = model.others[0]
    other.operator("ASSIGN_VARIABLE", [other.handle("kept"), 1], [])
    return model.finished()


def never_set() -> bytes:
    return Sum(None).finished()


def set_late() -> bytes:
    model = Sum()
    call = model.operators.pop(0)
    value = model.read("kept", SHAPE, **SCALE)
    model.operators.append(call)
    return model.finished([model.added(value)])


def of_other_shape() -> bytes:
    model = Sum()
    return model.finished([model.read("kept", (1, 2, 2), name="square", **SCALE)])


def of_other_type() -> bytes:
    model = Sum()
    y = model.added(model.read("kept", SHAPE, **SCALE))
    model.assign("kept", model.tensor(SHAPE, np.int32, data=np.int32(FIRST), name="wide"))
    return model.finished([y])


def without_handle() -> bytes:
    model = Sum()
    value = model.tensor(SHAPE, **SCALE)
    model.operator("READ_VARIABLE", [model.x], [value])
    return model.finished([model.added(value)])


def computes() -> bytes:
    model = Sum()
    other = model.others[0]
    other.operator("ADD", [1, 1], [other.constant(0)])
    return model.finished()


def assigns_nothing() -> bytes:
    model = Sum()
    other = model.others[0]
    other.operator("ASSIGN_VARIABLE", [other.handle("more")], [])
    return model.finished()


def no_such_subgraph() -> bytes:
    model = Sum()
    model.operator("CALL_ONCE", [], [], initSubgraphIndex=7)
    return model.finished()


def circle() -> bytes:
    model = Sum()
    second = model.subgraph()
    model.others[0].operator("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=2)
    second.operator("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=1)
    model.operator("CALL_ONCE", [], [], initSubgraphIndex=2)
    return model.finished()


_READ, _ASSIGN = "operator 2 READ_VARIABLE", "ASSIGN_VARIABLE"
_ONCE = "must be VAR_HANDLE or ASSIGN_VARIABLE"
_FIRST = "variable 'kept' must be int8 [1, 4], as in operator 0"

BROKEN_VARIABLES: list[tuple[Callable[[], bytes], str]] = [
    (
        twice,
        f"operator 5 {_ASSIGN}: variable 'kept' must be assigned once, not also by operator 4",
    ),
    (
        set_twice,
        "operator 0 CALL_ONCE: variable 'kept' must be set once, not also by operator 0 CALL_ONCE",
    ),
    (
        never_set,
        f"operator 1 READ_VARIABLE: variable 'kept' must be set by CALL_ONCE or {_ASSIGN} before",
    ),
    (
        set_late,
        "operator 1 READ_VARIABLE: variable 'kept' must be set before, not by operator 2 CALL_ONCE",
    ),
    (of_other_shape, f"{_READ} (square): {_FIRST}, not int8 [1, 2, 2]"),
    (of_other_type, f"operator 4 {_ASSIGN} (wide): {_FIRST}, not int32 [1, 4]"),
    (without_handle, f"{_READ} (x): input 0 must be the output of a VAR_HANDLE"),
    (computes, f"operator 0 CALL_ONCE: operator 2 ADD of subgraph 1 {_ONCE}"),
    (
        assigns_nothing,
        (
            f"operator 0 CALL_ONCE: operator 3 {_ASSIGN} of subgraph 1 must have the output of a "
            "VAR_HANDLE and a value"
        ),
    ),
    (no_such_subgraph, "operator 2 CALL_ONCE: subgraph must be 1 to 1, not 7"),
    (
        circle,
        (
            "model: subgraphs must not execute each other in circles: operator 2 CALL_ONCE of "
            "subgraph 1 executes subgraph 2, operator 0 CALL_ONCE of subgraph 2 executes subgraph "
            f"1; operator 0 CALL_ONCE: operator 2 CALL_ONCE of subgraph 1 {_ONCE}; "
            f"operator 2 CALL_ONCE: operator 0 CALL_ONCE of subgraph 2 {_ONCE}"
        ),
    ),
]
