"""What steps of the CPU cost: predictions against the simulated system, for other sizes."""

import statistics
from collections.abc import Sequence

import pytest

from kiwicha.compiler.cpu.costs import cpu_cycles
from kiwicha.contract.program import Kernel
from kiwicha.kernels.registry import KERNELS
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import by_day
from tests.support.programs.spread import SPREAD, spread
from tools.cpu_costs import MEASURED, measured, steps_of
from tools.predictions import CPU_SHARE, SLACK_CYCLES

NEAR = 2
"""Factor by which a prediction may be off and still tell where the time goes."""


@pytest.mark.verilator
def test_predictions_are_near() -> None:
    """Looks at medians: operands that meet in the data cache take longer, and are not predicted."""
    check_predictions([kernel for kernel in MEASURED if not KERNELS[kernel].is_on_demand], count=3)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(
    "kernel",
    by_day(*(kernel for kernel in MEASURED if KERNELS[kernel].is_on_demand)),
    ids=lambda kernel: kernel.name,
)
def test_predictions_of_kernels_on_demand_are_near(kernel: Kernel) -> None:
    check_predictions([kernel], count=6)


def check_predictions(kernels: Sequence[Kernel], count: int) -> None:
    program, cycles = measured(steps_of(kernels, seed=2, count=count))
    ratios: dict[str, list[float]] = {}
    for step, spent in zip(program.steps, cycles, strict=True):
        ratios.setdefault(step.kernel.name, []).append(cpu_cycles(step) / spent)
    assert len(ratios) == len(kernels)
    medians = {name: statistics.median(each) for name, each in ratios.items()}
    assert {name: x for name, x in medians.items() if not 1 / NEAR < x < NEAR} == {}


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", by_day(*SPREAD), ids=lambda kernel: kernel.name)
def test_kernels_that_stay_on_the_cpu_are_exact_and_predicted(kernel: Kernel) -> None:
    """Leaves out the first step, which finds the firmware outside the instruction cache."""
    builder = spread(kernel)
    program = builder.program()
    result = run_program(program, builder.input_bytes)
    expected = reference.run(program, builder.input_bytes)
    assert result.outputs == tuple(output.tobytes() for output in expected)
    found = zip(
        *(SPREAD[kernel][1], map(cpu_cycles, program.steps), result.step_cycles[-1]), strict=True
    )
    wrong = [
        f"{shape}: {spent} cycles, {predicted} predicted"
        for shape, predicted, spent in list(found)[1:]
        if abs(predicted - spent) > max(CPU_SHARE * spent, SLACK_CYCLES)
    ]
    assert wrong == []
