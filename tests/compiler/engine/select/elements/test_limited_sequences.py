"""Tables behind operations that cannot be limited, or of which only the last step can."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.operations import OperationSequence
from kiwicha.contract.program import Where
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

IMAGE = (1, 7, 7, 512)
SCALE = {"scale": 0.05, "zero_point": -9}


def before_relu(operator: str) -> oracle.Case:
    """Give a model of an operator, another one and the first's RELU, which leaves its scale."""
    rng = np.random.default_rng(3)
    builder = ModelBuilder()
    x = builder.tensor(IMAGE, **SCALE)
    shape, operand = IMAGE, builder.tensor((4,), np.int32, data=np.array([0, 3, 1, 2], np.int32))
    if operator == "TRANSPOSE":
        shape = (1, 512, 7, 7)
    else:
        data = rng.integers(-128, 128, IMAGE[-1:], np.int8)
        operand = builder.tensor(data.shape, **SCALE, data=data)
    between, y = (builder.tensor(shape, **SCALE) for _ in range(2))
    other = builder.tensor(IMAGE, **SCALE)
    builder.operator(operator, [x, operand], [between])
    builder.operator("ADD", [x, x], [other])
    builder.operator("RELU", [between], [y])
    return oracle.Case(builder.build([x], [y, other]), (rng.integers(-128, 128, IMAGE, np.int8),))


@pytest.mark.parametrize("operator", ["TRANSPOSE", "ADD"])
def test_limits_behind_operators(operator: str) -> None:
    case = before_relu(operator)
    (answer,) = oracle.ask([case], oracle.MICRO)
    assert answer.outputs is not None, answer.error
    stages = compile_stages(case.model, "64")
    assert {layer.where for layer in stages.program.layers} == {Where.ENGINE}
    for found, expected in zip(
        reference.run(stages.program, case.inputs), answer.outputs, strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_last_step_of_a_sequence_has_the_limits() -> None:
    _, sum_ = compile_stages(before_relu("ADD").model, "64").engine.operations
    assert isinstance(sum_, OperationSequence)
    assert sum_.positions == (0, 2)
    assert sum_.steps[-1].clamp == sum_.clamp == (-9, 127)
    assert sum_.steps[0].clamp == (-128, 127)
