"""RECURRENT jobs for the benches, and their definition."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import JobKind
from kiwicha.contract.recurrences import FRACTION_BITS, GATE_BYTES, GATES, EngineRecurrence
from kiwicha.numerics.lstm_steps import CellScales, lstm_step
from tests.gateware.engine.works import Work, places

__all__ = ["Places", "Recurrence", "random_recurrence", "recurrence_job", "recurrence_work"]

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Places:
    """Where what a step of an LSTM reads and writes is."""

    input_sums: int
    hidden_sums: int
    output: int
    hidden: int
    cell: int


@dataclass(frozen=True)
class Recurrence:
    """A step of an LSTM.

    Parameters
    ----------
    units : int
        Of its state.
    lower_step : int
        From upper bytes of sums to lower ones.
    scales : CellScales
        Of its states.
    """

    units: int
    lower_step: int
    scales: CellScales

    @property
    def sum_bytes(self) -> int:
        """Bytes of its sums, of the input or of the hidden state."""
        return self.lower_step + GATES * self.units

    def apply(self, memory: Bytes, at: Places) -> None:
        """Change a memory, whose addresses wrap, as the job does."""
        size = len(memory)
        planes = np.arange(2)[::-1, None] * self.lower_step + np.arange(GATES * self.units)
        input_sums, hidden_sums = (
            np
            .ascontiguousarray(memory[(first + planes) % size].T)
            .view("<i2")
            .reshape(self.units, GATES)
            .astype(np.int64)
            for first in (at.input_sums, at.hidden_sums)
        )
        cells = (at.cell + np.arange(GATE_BYTES * self.units)) % size
        cell = memory[cells].view("<i2").astype(np.int64)
        cell, hidden = lstm_step(input_sums, hidden_sums, cell, self.scales)
        memory[cells] = cell.astype("<i2").view(np.uint8)
        for first in (at.output, at.hidden):
            octets = hidden.astype(np.int8).view(np.uint8)
            memory[(first + np.arange(self.units)) % size] = octets


def recurrence_job(step: Recurrence, at: Places) -> EngineRecurrence:
    """Return the job of a step."""
    fields: dict[str, Any] = {
        name: (0,) * field.count if field.count > 1 else 0
        for name, field, _ in EngineRecurrence.layout()
    }
    scales = step.scales
    fields |= {
        "kind": JobKind.RECURRENT,
        "interval": 1,
        "groups": 1,
        **vars(at),
        "lower_step": step.lower_step,
        "units": step.units,
        "hidden_multiplier": scales.hidden_multiplier,
        "hidden_shift": -scales.hidden_shift,
        "hidden_zero_point": scales.hidden_offset,
        "cell_shift": scales.cell_exponent + FRACTION_BITS,
        "cell_min": scales.cell_min,
        "cell_max": scales.cell_max,
    }
    return EngineRecurrence(**fields)


def random_recurrence(rng: np.random.Generator, most_units: int) -> Recurrence:
    """Return a step of up to so many units, with any scales that a job can have."""
    units = int(rng.integers(1, most_units + 1))
    least, most = sorted(int(rng.integers(-(2**15), 2**15)) for _ in range(2))
    if rng.integers(2):
        least, most = -(2**15), 2**15 - 1
    lower_step = -(-GATES * units // 8) * 8 + 8 * int(rng.integers(2))
    return Recurrence(
        units,
        lower_step,
        CellScales(
            cell_exponent=int(rng.integers(-15, 1)),
            cell_min=least,
            cell_max=most,
            hidden_multiplier=int(rng.integers(1 << 30, 1 << 31)),
            # Scales of models, mostly: results of all sizes.
            hidden_shift=-int(rng.choice([1, 31, 20, 21, 22, 22, 22, 23, 24])),
            hidden_offset=int(rng.integers(-128, 128)),
        ),
    )


def recurrence_work(rng: np.random.Generator, memory_bytes: int) -> Work:
    """Return a RECURRENT job on sums and states anywhere."""
    step = random_recurrence(rng, min(memory_bytes // 64, 100))
    cell_bytes = GATE_BYTES * step.units
    # What is written lies together: the cell state, and the hidden state on both sides of it.
    written = 2 * step.units + cell_bytes + 8
    sums = step.sum_bytes
    input_sums, hidden_sums, states = places(rng, [sums, sums, written], memory_bytes)
    cell = (states.start + step.units + 1) // 2 * 2
    at = Places(input_sums.start, hidden_sums.start, cell + cell_bytes + 3, states.start, cell)
    return Work(
        recurrence_job(step, at),
        [],
        [input_sums, hidden_sums],
        states,
        lambda memory: step.apply(memory, at),
    )
