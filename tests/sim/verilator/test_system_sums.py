"""Long sums and transposed convolutions on the simulated system, as RTL computes them."""

import math

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.engine import SumFlag
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import EACH_ENGINE
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

pytestmark = pytest.mark.verilator

SIDE, CHANNELS, OUTPUTS = 5, 320, 24
SCALE = 0.02


class _Model:
    """Layers with random weights, one after the other."""

    def __init__(self) -> None:
        self.builder = ModelBuilder()
        self.rng = np.random.default_rng(1)
        self.first = self.last = self._tensor((1, SIDE, SIDE, CHANNELS))

    def _tensor(self, shape: tuple[int, ...]) -> int:
        return self.builder.tensor(shape, scale=SCALE, zero_point=-9)

    def add(self, operator: str, weights: tuple[int, ...], output: tuple[int, ...]) -> None:
        """Add a layer whose results are neither clamped nor all alike."""
        data = self.rng.integers(-127, 128, weights, np.int8)
        bias = self.rng.integers(-2000, 2000, weights[0]).astype(np.int32)
        scale = 1 / (74 * math.sqrt(math.prod(weights[1:])))
        kernel = self.builder.tensor(weights, scale=scale, data=data)
        constant = self.builder.tensor(bias.shape, np.int32, scale=SCALE * scale, data=bias)
        operands, options = [self.last, kernel, constant], {}
        if operator != "FULLY_CONNECTED":
            stride = 2 if operator == "TRANSPOSE_CONV" else 1
            options = {"padding": 0, "strideH": stride, "strideW": stride}
        if operator == "TRANSPOSE_CONV":
            size = self.builder.tensor((4,), np.int32, data=np.array(output, np.int32))
            operands = [size, kernel, self.last, constant]
        self.last = self._tensor(output)
        self.builder.operator(operator, operands, [self.last], **options)

    def build(self) -> bytes:
        """Return the model."""
        return self.builder.build([self.first], [self.last])


def model() -> bytes:
    """Give sums of 2,880 products, phases of a transposed convolution, and a long dense layer."""
    made, side = _Model(), 2 * SIDE
    made.add("CONV_2D", (OUTPUTS, 3, 3, CHANNELS), (1, SIDE, SIDE, OUTPUTS))
    made.add("TRANSPOSE_CONV", (32, 3, 3, OUTPUTS), (1, side, side, 32))
    made.add("FULLY_CONNECTED", (40, side * side * 32), (1, 40))
    return made.build()


@EACH_ENGINE
def test_long_sums_and_phases(config: str) -> None:
    raw, shape = model(), (1, SIDE, SIDE, CHANNELS)
    x = np.random.default_rng(2).integers(-128, 128, shape, np.int8)
    (answer,) = oracle.ask([oracle.Case(raw, (x,))])
    assert answer.outputs is not None
    assert len(np.unique(answer.outputs[0])) > 20
    stages = compile_stages(raw, config)
    assert [step.kernel for step in stages.program.steps] == [Kernel.ENGINE]
    (engine_list,) = stages.lists
    assert sum(bool(job.sums & SumFlag.KEEP) for job in engine_list.jobs) == 2
    assert {job.output_pixel_bytes for job in engine_list.jobs} >= {2 * 32}
    result = run_program(stages.program, [x.tobytes()], inferences=2)
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(stages.program)
    assert abs(predicted / result.last_cycles - 1) < 0.05
