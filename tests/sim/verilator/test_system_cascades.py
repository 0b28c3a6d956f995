"""Tensors larger than the scratchpad, on the simulated system: stripes, and cascades of layers."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import EACH_ENGINE
from tests.support.models.tflite_builder import ModelBuilder

pytestmark = pytest.mark.verilator

SIDE, NARROW, WIDE = 44, 8, 48


def inverted_residual() -> bytes:
    """Give a model of 1x1, depthwise 3x3 and 1x1 convolutions and the sum with their input."""
    builder, rng = ModelBuilder(), np.random.default_rng(5)

    def tensor(channels: int) -> int:
        return builder.tensor((1, SIDE, SIDE, channels), scale=0.5, zero_point=3)

    def weights(*shape: int) -> int:
        return builder.tensor(shape, scale=0.02, data=rng.integers(-127, 128, shape, np.int8))

    first, wide, filtered, narrow, last = map(tensor, (NARROW, WIDE, WIDE, NARROW, NARROW))
    options = {"padding": 0, "strideH": 1, "strideW": 1}
    builder.operator("CONV_2D", [first, weights(WIDE, 1, 1, NARROW)], [wide], **options)
    builder.operator(
        *("DEPTHWISE_CONV_2D", [wide, weights(1, 3, 3, WIDE)], [filtered]),
        **options | {"depthMultiplier": 1},
    )
    builder.operator("CONV_2D", [filtered, weights(NARROW, 1, 1, WIDE)], [narrow], **options)
    builder.operator("ADD", [narrow, first], [last])
    return builder.build([first], [last])


@EACH_ENGINE
def test_a_cascade(config: str) -> None:
    stages = compile_stages(inverted_residual(), config)
    (engine_list,) = stages.lists
    assert len(engine_list.plan.passed) >= 2
    assert engine_list.plan.streamed
    shape = (1, SIDE, SIDE, NARROW)
    x = np.random.default_rng(1).integers(-128, 128, shape, np.int8)
    (expected,) = reference.run(stages.program, [x])
    result = run_program(stages.program, [x.tobytes()], inferences=2)
    assert result.outputs == (expected.tobytes(),)
    predicted, _ = predict_program(stages.program)
    assert abs(predicted / result.last_cycles - 1) < 0.05
