"""From a planned step of an LSTM to a job."""

from collections.abc import Sequence
from typing import Any

from kiwicha.compiler.engine.ir.plan import PlannedRecurrence
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.recurrences import FRACTION_BITS, EngineRecurrence

__all__ = ["engine_recurrence"]


def engine_recurrence(
    event: PlannedRecurrence, layer: int, offsets: Sequence[int]
) -> EngineRecurrence:
    """Return a job that waits for nothing.

    Parameters
    ----------
    event : PlannedRecurrence
        The step.
    layer : int
        Number of its layer, counted from that of the step.
    offsets : sequence of int
        Where the buffers begin.
    """
    operation = event.operation
    scales = operation.scales
    fields: dict[str, Any] = {
        name: 0 if kind.count == 1 else (0,) * kind.count
        for name, kind, _ in EngineRecurrence.layout()
    }
    fields |= {name: offsets[at.buffer] + at.offset for name, at in event.places.items()}
    fields |= {
        "kind": JobKind.RECURRENT,
        "interval": 1,
        "groups": 1,
        "layer": layer,
        "lower_step": operation.lower_step,
        "units": operation.units,
        "hidden_multiplier": scales.hidden_multiplier,
        "hidden_shift": -scales.hidden_shift,
        "hidden_zero_point": scales.hidden_offset,
        "cell_shift": scales.cell_exponent + FRACTION_BITS,
        "cell_min": scales.cell_min,
        "cell_max": scales.cell_max,
    }
    if operation.planes is not None:
        fields |= {"flags": JobFlag.SHORT, "upper_step": operation.planes.upper_step}
    return EngineRecurrence(**fields)
