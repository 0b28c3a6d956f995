"""RECURRENT jobs for the benches, and their definition."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.recurrences import FRACTION_BITS, GATE_BYTES, GATES, EngineRecurrence
from kiwicha.numerics.lstm_steps import CellScales, lstm_step
from tests.gateware.engine.works import Work, places

__all__ = ["Places", "Recurrence", "random_recurrence", "recurrence_job", "recurrence_work"]

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Places:
    """Where what a step of an LSTM reads and writes is: of sums the first byte of both planes."""

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
        From upper bytes of sums to lower ones; less than 0 if these are before them.
    scales : CellScales
        Of its states.
    upper_step : int
        From lower bytes of a hidden state of int16 to upper ones; 0 of int8.
    """

    units: int
    lower_step: int
    scales: CellScales
    upper_step: int = 0

    @property
    def sum_bytes(self) -> int:
        """Bytes of its sums, of the input or of the hidden state."""
        return abs(self.lower_step) + GATES * self.units

    @property
    def uppers(self) -> int:
        """The first upper byte of sums, counted from their first byte."""
        return max(-self.lower_step, 0)

    @property
    def octets(self) -> int:
        """Bytes of a unit's hidden state."""
        return 2 if self.upper_step else 1

    @property
    def hidden_bytes(self) -> int:
        """Bytes of the hidden state, with what is between its planes."""
        return self.upper_step + self.units

    def apply(self, memory: Bytes, at: Places) -> None:
        """Change a memory, whose addresses wrap, as the job does."""
        size = len(memory)
        planes = np.arange(2)[::-1, None] * self.lower_step + np.arange(GATES * self.units)
        planes += self.uppers
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
        kind = "<i2" if self.upper_step else "i1"
        octets = hidden.astype(kind).view(np.uint8)
        memory[(at.output + np.arange(len(octets))) % size] = octets
        for plane in range(self.octets):
            there = at.hidden + plane * self.upper_step + np.arange(self.units)
            memory[there % size] = octets[plane :: self.octets]


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
        "flags": JobFlag.SHORT if step.upper_step else 0,
        "input_sums": at.input_sums + step.uppers,
        "hidden_sums": at.hidden_sums + step.uppers,
        "lower_step": step.lower_step,
        "upper_step": step.upper_step,
        "units": step.units,
        "hidden_multiplier": scales.hidden_multiplier,
        "hidden_shift": -scales.hidden_shift,
        "hidden_zero_point": scales.hidden_offset,
        "cell_shift": scales.cell_exponent + FRACTION_BITS,
        "cell_min": scales.cell_min,
        "cell_max": scales.cell_max,
    }
    return EngineRecurrence(**fields)


def random_recurrence(
    rng: np.random.Generator, most_units: int, *, is_short: bool | None = None
) -> Recurrence:
    """Return a step of up to so many units, with any scales that a job can have.

    Its hidden state is an int16 or an int8 if it is not said which.
    """
    units = int(rng.integers(1, most_units + 1))
    if is_short is None:
        is_short = bool(rng.integers(2))
    least, most = sorted(int(rng.integers(-(2**15), 2**15)) for _ in range(2))
    if rng.integers(2):
        least, most = -(2**15), 2**15 - 1
    lower_step = -(-GATES * units // 8) * 8 + 8 * int(rng.integers(2))
    shifts = (
        [1, 31, 12, 13, 14, 14, 14, 15, 16] if is_short else [1, 31, 20, 21, 22, 22, 22, 23, 24]
    )
    limits = np.iinfo(np.int16 if is_short else np.int8)
    return Recurrence(
        units,
        lower_step * int(rng.choice([-1, 1])),
        CellScales(
            cell_exponent=int(rng.integers(-15, 1)),
            cell_min=least,
            cell_max=most,
            hidden_multiplier=int(rng.integers(1 << 30, 1 << 31)),
            # Scales of models, mostly: results of all sizes.
            hidden_shift=-int(rng.choice(shifts)),
            hidden_offset=0 if is_short and rng.integers(4) else int(rng.integers(-128, 128)),
            hidden_min=int(limits.min),
            hidden_max=int(limits.max),
        ),
        upper_step=units + int(rng.integers(9)) if is_short else 0,
    )


def recurrence_work(rng: np.random.Generator, memory_bytes: int) -> Work:
    """Return a RECURRENT job on sums and states anywhere."""
    step = random_recurrence(rng, min(memory_bytes // 64, 100))
    cell_bytes = GATE_BYTES * step.units
    # What is written lies together: the cell state, and the hidden state on both sides of it.
    written = step.hidden_bytes + step.octets * step.units + cell_bytes + 8
    sums = step.sum_bytes
    input_sums, hidden_sums, states = places(rng, [sums, sums, written], memory_bytes)
    cell = (states.start + step.hidden_bytes + 1) // 2 * 2
    output = cell + cell_bytes + (4 if step.upper_step else 3)
    at = Places(input_sums.start, hidden_sums.start, output, states.start, cell)
    return Work(
        recurrence_job(step, at),
        [],
        [input_sums, hidden_sums],
        states,
        lambda memory: step.apply(memory, at),
    )
