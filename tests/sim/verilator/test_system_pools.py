"""Pools of the engine on the simulated system: with and without borders, and in stripes."""

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

SIDE, CHANNELS = 66, 16
SAME, VALID = 0, 1


def pools() -> bytes:
    """Give a model that begins with more bytes than the scratchpad has."""
    builder = ModelBuilder()
    side = SIDE
    x = first = builder.tensor((1, side, side, CHANNELS), scale=0.5, zero_point=3)
    for operator, kernel, stride, padding, activation in (
        ("MAX_POOL_2D", 2, 2, VALID, 0),
        ("AVERAGE_POOL_2D", 3, 1, SAME, 0),
        ("MAX_POOL_2D", 3, 2, SAME, 1),
        ("AVERAGE_POOL_2D", 4, 3, SAME, 0),
    ):
        side = -(-side // stride) if padding == SAME else (side - kernel) // stride + 1
        y = builder.tensor((1, side, side, CHANNELS), scale=0.5, zero_point=3)
        sizes = {"filterHeight": kernel, "filterWidth": kernel, "strideH": stride}
        options = {"strideW": stride, "padding": padding, "fusedActivationFunction": activation}
        builder.operator(operator, [x], [y], **sizes, **options)
        x = y
    return builder.build([first], [x])


@EACH_ENGINE
def test_pools(config: str) -> None:
    shape = (1, SIDE, SIDE, CHANNELS)
    x = np.random.default_rng(1).integers(-128, 128, shape, np.int8)
    (answer,) = oracle.ask([oracle.Case(pools(), (x,))])
    assert answer.outputs is not None
    stages = compile_stages(pools(), config)
    assert [step.kernel for step in stages.program.steps] == [Kernel.ENGINE]
    (engine_list,) = stages.lists
    assert engine_list.plan.streamed
    kinds = {JobKind(job.kind) for job in engine_list.jobs}
    assert kinds == {JobKind.MAX, JobKind.DEPTHWISE}
    result = run_program(stages.program, [x.tobytes()], inferences=2)
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(stages.program)
    assert abs(predicted / result.last_cycles - 1) < 0.05
