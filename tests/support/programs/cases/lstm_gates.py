"""What inputs add to the gates of an LSTM."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.lstm import GATES, LstmGates
from kiwicha.kernels.weight_order import pack_conv
from tests.support.programs.steps import ProgramBuilder, int8s, random_scales

__all__ = ["PARAMS", "add", "gate_scales"]

PARAMS = LstmGates
Ints = NDArray[np.int64]


def gate_scales(rng: np.random.Generator, largest: int, number: int) -> tuple[Ints, Ints]:
    """Give scales of any size; of every third step a half or less, with sums beyond int16."""
    if number % 3 != 1:
        return random_scales(rng, GATES, largest)
    return rng.integers(2**30, 2**31, GATES), rng.integers(-5, 0, GATES)


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step; inputs are whole words if the number is even."""
    rows, units = (int(rng.integers(1, 9)) for _ in range(2))
    inputs = 4 * int(rng.integers(1, 9)) - number % 2
    weights = int8s(rng, (units * GATES, inputs))
    multiplier, shift = gate_scales(rng, inputs, number)
    params = LstmGates(
        builder.input(int8s(rng, (rows, inputs))),
        builder.output((rows * units * GATES * 2,)),
        builder.constant(pack_conv(weights) if kernel.where is Where.SIMD else weights, np.int8),
        builder.constant(rng.integers(-9999, 9999, units * GATES)),
        rows,
        inputs,
        units,
        tuple(multiplier.tolist()),
        tuple(shift.tolist()),
    )
    builder.step(kernel, params)
