"""Layers in parts of their rows and kernels, on the simulated system."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.models.dense_layers import dense
from tests.support.models.wide_rows import wide_rows
from tests.support.oracle import oracle

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

CASES: dict[str, tuple[str, tuple[int, int, int], dict[str, Any]]] = {
    "one row": ("CONV_2D", (1, 4000, 64), {"kernel": (1, 3), "outputs": 16}),
    "sound": ("CONV_2D", (1, 16000, 1), {"kernel": (1, 64), "outputs": 32, "stride": 8}),
    "long rows": ("CONV_2D", (4, 9000, 8), {"kernel": 3, "outputs": 16}),
    "depthwise": ("DEPTHWISE_CONV_2D", (4, 8000, 16), {}),
    "maxima": ("MAX_POOL_2D", (4, 8000, 16), {"kernel": 2, "stride": 2}),
    "dilated": ("CONV_2D", (28, 28, 512), {"outputs": 16, "dilation": 2}),
    "far": ("CONV_2D", (33, 33, 320), {"outputs": 32, "dilation": 18}),
    "phases": ("DEPTHWISE_CONV_2D", (33, 33, 320), {"dilation": 18}),
}


def check(case: oracle.Case, config: str) -> None:
    """Compare outputs with the oracle, and cycles with the prediction."""
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None, answer.error
    program = compile_model(case.model, config)
    assert {step.kernel for step in program.steps} == {Kernel.ENGINE}
    result = run_program(program, [np.ascontiguousarray(x).tobytes() for x in case.inputs])
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(program)
    assert abs(predicted / result.last_cycles - 1) < 0.05


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("config", ["64", "128"])
def test_windows(name: str, config: str) -> None:
    operator, shape, changes = CASES[name]
    check(wide_rows(operator, shape, **changes), config)


@pytest.mark.parametrize("config", ["64", "128"])
def test_dense(config: str) -> None:
    check(dense(1, 70001, 8), config)
