"""What steps of the CPU cost, in cycles.

Beside an engine, that is; the instruction tier has one multiplier there. Where operands meet at one
place of the data cache, or strides reach over more bytes than it holds, a step takes longer.
"""

from kiwicha.kernels.kernel import Work
from kiwicha.kernels.registry import KERNELS
from kiwicha.program.parts import Step

__all__ = ["cpu_cycles", "work_of"]


def cpu_cycles(step: Step) -> int:
    """Return the predicted cycles of a step of the CPU."""
    work, cost = work_of(step), KERNELS[step.kernel].cost
    assert cost is not None
    return round(
        cost.step + cost.output * work.outputs + cost.unit * work.units + cost.extra * work.extra
    )


def work_of(step: Step) -> Work:
    """Return what a step of the CPU does."""
    work = KERNELS[step.kernel].work
    if work is None:
        raise TypeError(f"a step must have a kernel of the CPU, not {step.kernel.name}")
    return work(step.params)
