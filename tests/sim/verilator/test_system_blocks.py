"""Convolutions in blocks of channels on the simulated system, as RTL computes them."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.engine import JobKind
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import EACH_ENGINE
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

pytestmark = pytest.mark.verilator

SIDE = 12
KINDS = {
    "multiplier": (64, (3, 3), {"depthMultiplier": 2, "padding": 0}),
    "wide": (24, (3, 10), {"padding": 1}),
}
"""Input channels, kernel and options of depthwise convolutions that no depthwise job can do."""


def depthwise(channels: int, kernel: tuple[int, int], padding: int, **options: int) -> bytes:
    """Give a model of one convolution."""
    rng = np.random.default_rng(channels)
    builder = ModelBuilder()
    x = builder.tensor((1, SIDE, SIDE, channels), scale=0.05, zero_point=-9)
    outputs = channels * options.setdefault("depthMultiplier", 1)
    weights = rng.integers(-127, 128, (1, *kernel, outputs), np.int8)
    bias = rng.integers(-2000, 2000, outputs).astype(np.int32)
    operands = [
        x,
        builder.tensor(weights.shape, scale=0.01, data=weights, axis=3),
        builder.tensor(bias.shape, np.int32, scale=0.0005, data=bias),
    ]
    sizes = [SIDE - (0 if padding == 0 else size - 1) for size in kernel]
    y = builder.tensor((1, *sizes, outputs), scale=0.2, zero_point=4)
    window = {"padding": padding, "strideH": 1, "strideW": 1}
    builder.operator("DEPTHWISE_CONV_2D", operands, [y], **window, **options)
    return builder.build([x], [y])


@pytest.mark.parametrize("kind", KINDS)
@EACH_ENGINE
def test_blocks_of_channels(kind: str, config: str) -> None:
    channels, kernel, options = KINDS[kind]
    model = depthwise(channels, kernel, **options)
    x = np.random.default_rng(1).integers(-128, 128, (1, SIDE, SIDE, channels), np.int8)
    (answer,) = oracle.ask([oracle.Case(model, (x,))])
    assert answer.outputs is not None
    stages = compile_stages(model, config)
    assert [step.kernel for step in stages.program.steps] == [Kernel.ENGINE]
    (engine_list,) = stages.lists
    assert {JobKind(job.kind) for job in engine_list.jobs} == {JobKind.CONV}
    assert len(engine_list.jobs) > 1
    result = run_program(stages.program, [x.tobytes()], inferences=2)
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(stages.program)
    assert abs(predicted / result.last_cycles - 1) < 0.05
