"""A step of an LSTM: its equations, gate by gate."""

import dataclasses

import numpy as np
import pytest

from kiwicha.numerics.lstm_steps import CellScales, lstm_step, saturated_shorts
from kiwicha.numerics.short_activations import logistic_16, tanh_16
from tests.support.oracle.scalar import clamp, multiply

SCALES = CellScales(
    cell_exponent=-11,
    cell_min=-20000,
    cell_max=19000,
    hidden_multiplier=1 << 30,
    hidden_shift=-21,
    hidden_offset=3,
)


POWER = 1 << 30
"""One half."""


def short(x: int) -> int:
    return clamp(x, -(2**15), 2**15 - 1)


def drawn(seed: int, units: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    # Half of the gates are in the middle of their range, the others anywhere.
    size = np.where(rng.random((2, units, 4)) < 0.5, 2**12, 2**15)
    sums = rng.integers(-size, size)
    return sums[0], sums[1], rng.integers(-(2**15), 2**15, units)


@pytest.mark.parametrize("exponent", [-15, -12, -11, -9])
def test_a_step(exponent: int) -> None:
    scales = dataclasses.replace(SCALES, cell_exponent=exponent)
    inputs, hiddens, cells = drawn(-exponent)
    following, hidden = lstm_step(inputs, hiddens, cells, scales)
    for unit, cell in enumerate(cells.tolist()):
        gates = [short(a + b) for a, b in zip(inputs[unit], hiddens[unit], strict=True)]
        enter, keep, leave = (int(logistic_16(gates[number])) for number in (0, 1, 3))
        # Fractions of 15 bits: the cell keeps its scale; what enters has one of 2**-30.
        kept = short(multiply(keep * cell, POWER, 1 - 15))
        entered = short(multiply(enter * int(tanh_16(gates[2])), POWER, 1 - 30 - exponent))
        expected = clamp(short(kept + entered), -20000, 19000)
        assert following[unit] == expected
        product = leave * int(tanh_16(expected, exponent))
        assert hidden[unit] == clamp(multiply(product, POWER, -21) + 3, -128, 127)


def test_a_hidden_state_of_int16() -> None:
    scales = dataclasses.replace(
        SCALES, hidden_shift=-14, hidden_offset=0, hidden_min=-(2**15), hidden_max=2**15 - 1
    )
    inputs, hiddens, cells = drawn(1)
    following, hidden = lstm_step(inputs, hiddens, cells, scales)
    leave = logistic_16(saturated_shorts(inputs + hiddens)[:, 3])
    exact = leave * tanh_16(following, -11) / 2**15
    assert np.abs(hidden - exact).max() <= 1
    assert np.abs(hidden).max() > 2**14


def test_limits_of_int16() -> None:
    values = np.array([-(2**40), -(2**15) - 1, -(2**15), 5, 2**15 - 1, 2**15, 2**40])
    expected = [-(2**15)] * 3 + [5] + [2**15 - 1] * 3
    assert saturated_shorts(values).tolist() == expected


def test_the_hidden_state_is_int8_unless_said() -> None:
    assert (SCALES.hidden_min, SCALES.hidden_max) == (-128, 127)
