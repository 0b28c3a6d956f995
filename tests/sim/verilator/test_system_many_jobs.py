"""More jobs than a list has, on the simulated system: lists that go on where others have ended."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import EACH_ENGINE
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

pytestmark = pytest.mark.verilator

IMAGES, PIXELS, CHANNELS = 600, 3, 8


def model() -> bytes:
    """Give two convolutions of many images, which stay in the scratchpad between lists."""
    builder, rng = ModelBuilder(), np.random.default_rng(1)
    shape = (IMAGES, PIXELS, PIXELS, CHANNELS)
    x, y, z = (builder.tensor(shape, scale=0.05, zero_point=3) for _ in range(3))
    for source, output in ((x, y), (y, z)):
        data = rng.integers(-127, 128, (CHANNELS, 3, 3, CHANNELS), np.int8)
        weights = builder.tensor(data.shape, scale=0.002, data=data)
        builder.operator("CONV_2D", [source, weights], [output], padding=0, strideH=1, strideW=1)
    return builder.build([x], [z])


@EACH_ENGINE
def test_lists_go_on_with_the_scratchpad(config: str) -> None:
    raw, shape = model(), (IMAGES, PIXELS, PIXELS, CHANNELS)
    x = np.random.default_rng(2).integers(-128, 128, shape, np.int8)
    (answer,) = oracle.ask([oracle.Case(raw, (x,))])
    assert answer.outputs is not None
    assert len(np.unique(answer.outputs[0])) > 20
    program = compile_model(raw, config)
    assert [step.kernel for step in program.steps] == [Kernel.ENGINE] * 2
    assert [step.params.goes_on for step in program.steps] == [0, 1]
    result = run_program(program, [x.tobytes()], inferences=2)
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(program)
    assert abs(predicted / result.last_cycles - 1) < 0.1
