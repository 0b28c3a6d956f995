"""SOFTMAX and LOG_SOFTMAX on the simulated system, as a convolution leaves rows, and pairs."""

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.sim.verilator.program_run import run_program
from tests.support.models.random_softmax import softmax_network
from tests.support.models.softmax_layers import SOFTMAX_CASES, SOFTMAX_KINDS
from tests.support.oracle import oracle

# By day the lists of these models run in `test_programs`, on the engine alone.
pytestmark = [pytest.mark.verilator, pytest.mark.nightly]


def run(case: oracle.Case, config: str) -> tuple[set[int], float]:
    """Compare what the system gives with the oracle; return kinds of jobs, and measured cycles.

    The cycles are those of the second inference, divided by those that were predicted.
    """
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None
    stages = compile_stages(case.model, config)
    result = run_program(stages.program, [x.tobytes() for x in case.inputs])
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(stages.program)
    kinds = {job.kind for found in stages.lists for job in found.jobs}
    return kinds, result.last_cycles / predicted


@pytest.mark.parametrize("config", ["128", "64-softmax"])
@pytest.mark.parametrize("name", SOFTMAX_CASES)
def test_softmax(name: str, config: str) -> None:
    kinds, ratio = run(SOFTMAX_CASES[name], config)
    assert kinds == SOFTMAX_KINDS[name]
    assert abs(ratio - 1) < 0.05


@pytest.mark.parametrize("seed", range(6))
def test_random_networks(seed: int) -> None:
    run(softmax_network(seed), "64-softmax")
