"""One model of many operators on the simulated system: float32 in, float32 and int32 out."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import at_night
from tests.support.models.random_layers import RandomModel
from tests.support.oracle import oracle

pytestmark = pytest.mark.verilator

ARITHMETIC = {
    Kernel.QUANTIZE,
    Kernel.PRELU,
    Kernel.TRANSPOSE_CONV,
    Kernel.RESIZE_BILINEAR,
    Kernel.MAXIMUM,
    Kernel.REDUCE_MAX,
    Kernel.ARG_MAX,
    Kernel.LOOKUP,
}


def arithmetic_model(seed: int) -> oracle.Case:
    """Give a model with a layer for each of the kernels above."""
    model = RandomModel(random.Random(f"system{seed}"))
    x = model.quantize_float((1, 5, 4, 8))
    x = model.unary("HARD_SWISH", model.conv(x, kernel=3, channels=8))
    x = model.prelu(x, (1, 1, 8))
    x = model.resize_bilinear(model.transpose_conv(x))
    x = model.compare("MAXIMUM", x, (model.channels(x),))
    classes = model.position("ARG_MAX", x, -1)
    best = model.dequantize(model.mean(x, [1, 2], keep=True, operator="REDUCE_MAX"))
    return model.case([best, classes])


@pytest.mark.parametrize("config", ["simd", "64", at_night("baseline")])
def test_arithmetic(config: str) -> None:
    case = arithmetic_model(0)
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None, answer.error
    program = compile_model(case.model, config)
    kernels = {step.kernel for step in program.steps}
    # Of some the engine computes what the kernels do elsewhere.
    assert kernels >= ({Kernel.ENGINE} if config == "64" else ARITHMETIC)
    result = run_program(program, [array.tobytes() for array in case.inputs])
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    assert [output.dtype for output in answer.outputs] == [np.float32, np.int64]
