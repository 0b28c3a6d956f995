"""What steps of the CPU cost, in cycles.

Beside an engine, that is; the instruction tier has one multiplier there. Where operands meet at one
place of the data cache, or strides reach over more bytes than it holds, a step takes longer.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kiwicha.contract.cfu import CACHE_LINE_BYTES, DATA_CACHE_BYTES
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Work
from kiwicha.kernels.registry import KERNELS
from kiwicha.program.parts import Step

__all__ = ["COLD_LIST_CYCLES", "READ_AHEAD_CYCLES", "TABLE_AHEAD_CYCLES"]
__all__ += ["cold_steps", "cpu_cycles", "cycles_by_step", "work_of"]

READ_AHEAD_CYCLES = 200
"""What a step takes less behind a list, during which the cache got its parameters."""
TABLE_AHEAD_CYCLES = 230
"""What it takes less if the cache got its tables, too: from the first row on they are there."""
_MISS_CYCLES = 109
"""What a line of the data cache takes to come."""
COLD_LIST_CYCLES = 110
"""What a list takes more of the CPU if the caches have nothing left of the runtime. Measured behind
an LSTM, and behind long SOFTMAX."""
_NO_LISTS: Mapping[int, int] = MappingProxyType({})


def cpu_cycles(step: Step, *, has_signal: bool = False) -> int:
    """Return the predicted cycles of a step of the CPU that does not come behind a list.

    Parameters
    ----------
    step : Step
        Of a kernel of the CPU.
    has_signal : bool
        Whether the configuration has the unit for frames of sound.
    """
    work, cost = work_of(step), KERNELS[step.kernel].cost_with(has_signal=has_signal)
    assert cost is not None
    return round(
        cost.step + cost.output * work.outputs + cost.unit * work.units + cost.extra * work.extra
    )


def cycles_by_step(
    steps: Sequence[Step],
    list_cycles: Mapping[int, int] = _NO_LISTS,
    *,
    has_signal: bool = False,
) -> dict[int, int]:
    """Return the predicted cycles of the CPU's steps of a Program, by their numbers.

    Parameters
    ----------
    steps : sequence of Step
        All steps of the Program.
    list_cycles : mapping of int to int
        Of lists, by the numbers of their steps; those that are left out are long.
    has_signal : bool
        See `cpu_cycles`.
    """
    found = {}
    cold = cold_steps(steps)
    beside, ahead, is_read_ahead = 0, 0.0, False
    for number, step in enumerate(steps):
        if isinstance(step.params, EngineCall):
            beside, ahead = step.params.overlapped_steps, list_cycles.get(number, math.inf)
            is_read_ahead = beside == 0
            continue
        cost = KERNELS[step.kernel].cost
        cycles = cpu_cycles(step, has_signal=has_signal)
        cycles += round(cost.cold) if cost and number in cold else 0
        found[number] = max(cycles - _ahead_cycles(step, ahead) * is_read_ahead, 0)
        # The CPU waits for a list behind the last of the steps beside it.
        is_read_ahead = beside == 1
        beside = max(beside - 1, 0)
    return found


def cold_steps(steps: Sequence[Step]) -> set[int]:
    """Return the numbers of steps of which the caches have nothing left, inference by inference.

    A step on more bytes than the data cache holds leaves only what its own kernel needs.
    """
    found: set[int] = set()
    left: set[Kernel] = set()
    # What the first steps find was left by the last ones.
    for number, step in [*enumerate(steps)] * 2:
        is_list = isinstance(step.params, EngineCall)
        kernel = Kernel.ENGINE if is_list else step.kernel
        found = found - {number} if kernel in left else found | {number}
        left = {kernel} if not is_list and _fills_cache(step) else left | {kernel}
    return found


def _fills_cache(step: Step) -> bool:
    """Whether what a step of the CPU reads and writes has no room in the data cache."""
    tensors = (value for value in vars(step.params).values() if isinstance(value, Ref))
    return sum(tensor.bytes for tensor in tensors) > DATA_CACHE_BYTES


def _ahead_cycles(step: Step, list_cycles: float) -> int:
    """Return what a step takes less behind a list. Pairs of numbers have a table of outputs.

    Lines of tables come one after the other, as long as the list goes on.
    """
    names = KERNELS[step.kernel].tables if work_of(step).units else ()
    lines = sum(getattr(step.params, name).bytes for name in names) // CACHE_LINE_BYTES
    share = min(list_cycles / (lines * _MISS_CYCLES), 1.0) if lines else 0.0
    return READ_AHEAD_CYCLES + round(TABLE_AHEAD_CYCLES * share)


def work_of(step: Step) -> Work:
    """Return what a step of the CPU does."""
    work = KERNELS[step.kernel].work
    if work is None:
        raise TypeError(f"a step must have a kernel of the CPU, not {step.kernel.name}")
    return work(step.params)
