"""Tables that only limit what a layer gives: they become its clamp, if it has one."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SHAPE = (1, 8, 6, 8)
QUANTIZATION = {"scale": 0.1, "zero_point": 3}


def limited(operator: str, shape: tuple[int, ...], numbers: list[int], **options: bool) -> bytes:
    """Return a model of an operator with constant numbers and a RELU behind it."""
    builder = ModelBuilder()
    x, middle, y = (builder.tensor(size, np.int8, **QUANTIZATION) for size in (SHAPE, shape, shape))
    constant = builder.tensor((len(numbers),), np.int32, data=np.array(numbers, np.int32))
    builder.operator(operator, [x, constant], [middle], **options)
    builder.operator("RELU", [middle], [y])
    return builder.build([x], [y])


MODELS = {
    "MEAN": limited("MEAN", (1, 8), [1, 2], keepDims=False),
    "MEAN behind a move": limited("MEAN", (1, 6), [1, 3], keepDims=False),
    "TRANSPOSE": limited("TRANSPOSE", (1, 6, 8, 8), [0, 2, 1, 3]),
}


def operations(model: bytes) -> tuple[Operation, ...]:
    return compile_stages(model, "64").engine.operations


@pytest.mark.parametrize("name", MODELS)
def test_limits_of_what_an_operation_gives(name: str) -> None:
    x = np.random.default_rng(0).integers(-128, 128, SHAPE).astype(np.int8)
    (answer,) = oracle.ask([oracle.Case(MODELS[name], (x,))])
    assert answer.outputs is not None
    (output,) = reference.run(compile_model(MODELS[name], "64"), [x])
    np.testing.assert_array_equal(output, answer.outputs[0])


def test_only_what_clamps_takes_limits_over() -> None:
    assert [item.clamp for item in operations(MODELS["MEAN"])] == [(3, 127)]
    assert len(operations(MODELS["TRANSPOSE"])) == 2
