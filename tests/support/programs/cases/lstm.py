"""Steps of an LSTM."""

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.lstm import GATES, Lstm
from kiwicha.kernels.weight_order import pack_conv
from kiwicha.numerics.short_activations import points
from tests.support.programs.cases.lstm_gates import gate_scales
from tests.support.programs.steps import ProgramBuilder, int8s, random_scale

__all__ = ["PARAMS", "add"]

PARAMS = Lstm


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step with random gates and states; units are whole words if the number is even."""
    batches, steps = (int(rng.integers(1, 5)) for _ in range(2))
    units = 4 * int(rng.integers(1, 5)) - number % 2
    rows = batches * steps
    weights = int8s(rng, (units * GATES, units))
    multiplier, shift = gate_scales(rng, units, number)
    cell_max = int(rng.integers(1, 2**15))
    hidden_scale = random_scale(rng, 2**30)
    if number % 5 == 0:
        # Of a half or more, which models seldom have.
        hidden_scale = int(rng.integers(2**30, 2**31)), int(rng.integers(0, 3))
    params = Lstm(
        builder.input(int8s(rng, (rows * units * GATES * 2,))),
        builder.output((rows, units)),
        builder.input(int8s(rng, (batches, units))),
        builder.input(int8s(rng, (batches * units * 2,))),
        builder.constant(pack_conv(weights) if kernel.where is Where.SIMD else weights, np.int8),
        builder.constant(rng.integers(-9999, 9999, units * GATES)) if number % 3 else Ref(),
        builder.constant(points(), np.int16),
        batches,
        steps,
        units,
        *((1, batches) if number % 4 < 2 else (steps, 1)),
        tuple(multiplier.tolist()),
        tuple(shift.tolist()),
        int(rng.integers(-15, 1)),
        -cell_max,
        cell_max,
        *hidden_scale,
        int(rng.integers(-128, 128)),
    )
    builder.step(kernel, params)
