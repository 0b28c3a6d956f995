"""FULLY_CONNECTED of many rows, such as tokens: an image of one column, which comes in stripes."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Where
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SCALES = (0.05, 0.01, 0.5)


def dense(rows: int, inputs: int, outputs: int) -> oracle.Case:
    """Give a model of a FULLY_CONNECTED, and an input."""
    rng = np.random.default_rng(rows)
    builder = ModelBuilder()
    x = builder.tensor((1, rows, inputs), scale=SCALES[0], zero_point=7)
    weights = rng.integers(-127, 128, (outputs, inputs), np.int8)
    bias = rng.integers(-3000, 3000, outputs).astype(np.int32)
    operands = [
        x,
        builder.tensor(weights.shape, scale=SCALES[1], data=weights),
        builder.tensor((outputs,), np.int32, scale=SCALES[0] * SCALES[1], data=bias),
    ]
    y = builder.tensor((1, rows, outputs), scale=SCALES[2], zero_point=-5)
    builder.operator("FULLY_CONNECTED", operands, [y], keepNumDims=True)
    return oracle.Case(
        builder.build([x], [y]), (rng.integers(-128, 128, (1, rows, inputs), np.int8),)
    )


@pytest.mark.parametrize(
    ("rows", "inputs", "outputs"),
    [(196, 512, 64), (700, 100, 24), (300, 96, 49), (5, 24, 3)],
    ids=["more_than_a_row", "in_stripes", "with_gaps_between_outputs", "small"],
)
def test_rows(rows: int, inputs: int, outputs: int) -> None:
    case = dense(rows, inputs, outputs)
    (answer,) = oracle.ask([case], oracle.MICRO)
    assert answer.outputs is not None, answer.error
    for config in ("32", "64", "128"):
        stages = compile_stages(case.model, config)
        (layer,) = (item for item in stages.program.layers if item.operator == "FULLY_CONNECTED")
        assert layer.where is Where.ENGINE
        (found,) = reference.run(stages.program, case.inputs)
        np.testing.assert_array_equal(found, answer.outputs[0])
