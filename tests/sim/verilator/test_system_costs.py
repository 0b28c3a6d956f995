"""What steps of the CPU cost: predictions against the simulated system, for other sizes."""

import statistics

import pytest

from kiwicha.compiler.cpu.costs import cpu_cycles
from tools.cpu_costs import MEASURED, measured, steps_of

NEAR = 2
"""Factor by which a prediction may be off and still tell where the time goes."""


@pytest.mark.verilator
def test_predictions_are_near() -> None:
    """Looks at medians: operands that meet in the data cache take longer, and are not predicted."""
    program, cycles = measured(steps_of(MEASURED, seed=2, count=3))
    ratios: dict[str, list[float]] = {}
    for step, spent in zip(program.steps, cycles, strict=True):
        ratios.setdefault(step.kernel.name, []).append(cpu_cycles(step) / spent)
    assert len(ratios) == len(MEASURED)
    medians = {name: statistics.median(each) for name, each in ratios.items()}
    assert {name: x for name, x in medians.items() if not 1 / NEAR < x < NEAR} == {}
