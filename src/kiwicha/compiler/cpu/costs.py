"""What steps of the CPU cost, in cycles.

Beside an engine, that is; the instruction tier has one multiplier there. Where operands meet at one
place of the data cache, or strides reach over more bytes than it holds, a step takes longer.
"""

from collections.abc import Iterable

from kiwicha.contract.engine import EngineCall
from kiwicha.kernels.kernel import Work
from kiwicha.kernels.registry import KERNELS
from kiwicha.program.parts import Step

__all__ = ["READ_AHEAD_CYCLES", "TABLE_AHEAD_CYCLES", "cpu_cycles", "cycles_by_step", "work_of"]

READ_AHEAD_CYCLES = 200
"""What a step takes less behind a list, during which the cache got its parameters."""
TABLE_AHEAD_CYCLES = 230
"""What it takes less if the cache got its tables, too: from the first row on they are there."""


def cpu_cycles(step: Step) -> int:
    """Return the predicted cycles of a step of the CPU that does not come behind a list."""
    work, cost = work_of(step), KERNELS[step.kernel].cost
    assert cost is not None
    return round(
        cost.step + cost.output * work.outputs + cost.unit * work.units + cost.extra * work.extra
    )


def cycles_by_step(steps: Iterable[Step]) -> dict[int, int]:
    """Return the predicted cycles of the CPU's steps of a Program, by their numbers."""
    found = {}
    beside, is_read_ahead = 0, False
    for number, step in enumerate(steps):
        if isinstance(step.params, EngineCall):
            beside = step.params.overlapped_steps
            is_read_ahead = beside == 0
            continue
        found[number] = max(cpu_cycles(step) - _ahead_cycles(step) * is_read_ahead, 0)
        # The CPU waits for a list behind the last of the steps beside it.
        is_read_ahead = beside == 1
        beside = max(beside - 1, 0)
    return found


def _ahead_cycles(step: Step) -> int:
    """Return what a step takes less behind a list. Pairs of numbers have a table of outputs."""
    has_table = KERNELS[step.kernel].tables and work_of(step).units
    return READ_AHEAD_CYCLES + (TABLE_AHEAD_CYCLES if has_table else 0)


def work_of(step: Step) -> Work:
    """Return what a step of the CPU does."""
    work = KERNELS[step.kernel].work
    if work is None:
        raise TypeError(f"a step must have a kernel of the CPU, not {step.kernel.name}")
    return work(step.params)
