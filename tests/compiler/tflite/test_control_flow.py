"""IF and WHILE become operators of the model, or are refused with their place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.tflite.control_flow import CONTROL_FLOW, MAX_ROUNDS, with_inlined_calls
from kiwicha.compiler.tflite.reader import read
from kiwicha.errors import UnsupportedModelError
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.control_flow import joined
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

UNITS, STEPS = 8, 5
ACT: dict[str, Any] = {"scale": 1 / 64, "zero_point": 3}


class Part(ModelBuilder):
    """A builder of a subgraph."""

    def number(self, value: int | None = None, *, dtype: Any = np.int32) -> int:
        """Add a scalar: a constant, or one that is computed or given."""
        return self.tensor((), dtype, data=None if value is None else np.array(value, dtype))

    def state(self, **changes: Any) -> int:
        """Add what goes from round to round."""
        return self.tensor((1, UNITS), **(ACT | changes))

    def sequence(self) -> int:
        """Add what is the same in all rounds."""
        return self.tensor((STEPS, 1, UNITS), **ACT)


def condition(rounds: int | None) -> bytes:
    """Give the subgraph that goes on up to so many rounds, or as long as a computed one says."""
    part = Part("condition")
    count, x, state = part.number(), part.sequence(), part.state()
    goes_on = part.tensor((), np.bool_)
    if rounds is None:
        first = part.tensor((), np.int32)
        axes = part.tensor((2,), np.int32, data=np.array([0, 1], np.int32))
        moved = part.tensor((1, UNITS), np.int32)
        part.operator("CAST", [state], [moved])
        part.operator("SUM", [moved, axes], [first], keepDims=False)
        part.operator("LESS", [count, first], [goes_on])
    else:
        part.operator("LESS", [count, part.number(rounds)], [goes_on])
    return part.build([count, x, state], [goes_on])


def body(**changes: Any) -> bytes:
    """Give a round: a gate of the step's input and of the state, as converters write a GRU."""
    part = Part("body")
    count, x, state = part.number(), part.sequence(), part.state()
    after, step = part.number(), part.state()
    part.operator("ADD", [count, part.number(1)], [after])
    part.operator("GATHER", [x, count], [step], axis=0)
    weights = part.tensor(
        (UNITS, UNITS),
        scale=0.01,
        data=np.random.default_rng(1).integers(-127, 128, (UNITS, UNITS)).astype(np.int8),
    )
    product = part.tensor((1, UNITS), scale=0.1, zero_point=-5)
    part.operator("FULLY_CONNECTED", [state, weights], [product])
    total = part.tensor((1, UNITS), scale=0.1, zero_point=-5)
    part.operator("ADD", [product, step], [total])
    gate = part.tensor((1, UNITS), scale=1 / 256, zero_point=-128)
    part.operator("LOGISTIC", [total], [gate])
    new = part.state(**changes)
    part.operator("MUL", [gate, step], [new])
    return part.build([count, x, state], [after, x, new])


def loop(rounds: int | None = STEPS, first: int = 0, **changes: Any) -> bytes:
    """Give a model of a WHILE with a layer in front of it and one behind it."""
    main = Part("main")
    x, state = main.sequence(), main.state()
    relu = main.state()
    main.operator("RELU", [state], [relu])
    ends = [main.number(), main.sequence(), main.state()]
    main.operator(
        "WHILE", [main.number(first), x, relu], ends, condSubgraphIndex=1, bodySubgraphIndex=2
    )
    y = main.state()
    main.operator("RELU", [ends[2]], [y])
    return joined(main.build([x, state], [y, ends[2]]), [condition(rounds), body(**changes)])


def inputs(seed: int = 0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(
        rng.integers(-128, 128, shape).astype(np.int8) for shape in ((STEPS, 1, UNITS), (1, UNITS))
    )


def branches(*, is_taken: bool | None) -> bytes:
    """Give a model of an IF, of a constant or of an input."""
    main = Part("main")
    taken = main.tensor(
        (), np.bool_, data=None if is_taken is None else np.array(is_taken, np.bool_)
    )
    x, y = main.state(), main.state()
    main.operator("IF", [taken, x], [y], thenSubgraphIndex=1, elseSubgraphIndex=2)
    others = []
    for code in ("RELU", "TANH"):
        part = Part(code)
        source = part.state()
        target = part.state()
        between = part.tensor((1, UNITS), scale=1 / 128)
        part.operator("TANH", [source], [between])
        part.operator(
            "QUANTIZE" if code == "RELU" else "ADD",
            [between] if code == "RELU" else [between, source],
            [target],
        )
        others.append(part.build([source], [target]))
    return joined(main.build([x] if is_taken is not None else [taken, x], [y]), others)


def check(model: bytes, values: tuple[Any, ...], config: str) -> None:
    (answer,) = oracle.ask([oracle.Case(model, values)], oracle.MICRO)
    assert answer.outputs is not None, answer.error
    program = Program.from_bytes(compile_model(model, config).to_bytes())
    for found, expected in zip(reference.run(program, values), answer.outputs, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(np.unique(answer.outputs[-1])) > 3


@pytest.mark.parametrize("config", ["64", "simd"])
@pytest.mark.parametrize("rounds", [STEPS, 1, 0])
def test_loops_of_constant_bounds(rounds: int, config: str) -> None:
    check(loop(rounds), inputs(), config)


@pytest.mark.parametrize("is_taken", [False, True])
def test_constant_conditions(is_taken: bool) -> None:
    check(branches(is_taken=is_taken), inputs()[1:], "simd")


def test_rounds_stand_one_after_the_other() -> None:
    stages = compile_stages(loop(), "simd")
    names = [operator.name for operator in stages.graph.operators]
    assert names.count("FULLY_CONNECTED") == STEPS
    assert not {*CONTROL_FLOW} & {*names}
    # Weights are there once, and what counts the rounds is gone.
    weights = [t for t in stages.graph.tensors if t.shape == (UNITS, UNITS)]
    assert len(weights) == 1
    assert names.count("ADD") == STEPS
    assert stages.graph.others == ()
    assert [output.name for output in stages.program.outputs] == [
        stages.file.tensors[index].name for index in stages.file.outputs
    ]


def test_other_models_stay_what_they_are() -> None:
    part = Part("plain")
    x, y = part.state(), part.state()
    part.operator("RELU", [x], [y])
    graph = read(part.build([x], [y]))
    assert with_inlined_calls(graph) is graph


REASON = (
    "condition must follow from constants and shapes, with tensors of one type, shape and scale "
    f"at both ends of its subgraphs, and at most {MAX_ROUNDS:,} rounds"
)


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (lambda: loop(None), "operator 1 WHILE"),
        (lambda: loop(MAX_ROUNDS + 1), "operator 1 WHILE"),
        (lambda: loop(scale=1 / 32), "operator 1 WHILE"),
        (lambda: branches(is_taken=None), "operator 0 IF"),
    ],
)
def test_others_are_refused_with_their_place(model: Callable[[], bytes], place: str) -> None:
    with pytest.raises(UnsupportedModelError) as refusal:
        compile_model(model(), "simd")
    assert f"{place}: {REASON}" in map(str, refusal.value.violations)
    assert refusal.value.remedies == ("unroll loops, and take conditions out of the model",)


def test_circles_are_refused() -> None:
    main = Part("main")
    x, y = main.state(), main.state()
    taken = main.tensor((), np.bool_, data=np.array(True))
    main.operator("IF", [taken, x], [y], thenSubgraphIndex=1, elseSubgraphIndex=1)
    again = Part("again")
    a, b = again.state(), again.state()
    taken = again.tensor((), np.bool_, data=np.array(True))
    again.operator("IF", [taken, a], [b], thenSubgraphIndex=1, elseSubgraphIndex=1)
    model = joined(main.build([x], [y]), [again.build([a], [b])])
    with pytest.raises(UnsupportedModelError, match="must not execute each other in circles"):
        compile_model(model, "simd")
