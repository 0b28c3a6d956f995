"""Steps of an LSTM."""

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.lstm import GATES, Lstm
from kiwicha.kernels.weight_order import pack_conv
from kiwicha.numerics.long_sums import MAX_LONG_SHIFT
from kiwicha.numerics.short_activations import points
from tests.support.programs.cases.lstm_gates import gate_scales
from tests.support.programs.steps import ProgramBuilder, int8s, random_scale

__all__ = ["PARAMS", "add", "add_shape"]

PARAMS = Lstm
SHORT_BYTES = 2
BYTE_BITS = 8
"""By which results of int16 are finer."""


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step with random gates and states; units are whole words if the number is even."""
    batches, steps = (int(rng.integers(1, 5)) for _ in range(2))
    units = 4 * int(rng.integers(1, 5)) - number % 2
    add_shape(builder, kernel, rng, batches, steps, units, number)


def add_shape(
    builder: ProgramBuilder,
    kernel: Kernel,
    rng: np.random.Generator,
    batches: int,
    steps: int,
    units: int,
    number: int = 2,
) -> None:
    """Add a step of this size; the number chooses scales, biases and the order of rows."""
    rows = batches * steps
    weights = int8s(rng, (units * GATES, units))
    multiplier, shift = gate_scales(rng, units, number)
    cell_max = int(rng.integers(1, 2**15))
    hidden_scale = random_scale(rng, 2**30)
    if number % 5 == 0:
        # Of a half or more, which models seldom have.
        hidden_scale = int(rng.integers(2**30, 2**31)), int(rng.integers(0, 3))
    is_short = kernel is Kernel.SHORT_LSTM
    size = SHORT_BYTES if is_short else 1
    if is_short:
        hidden_scale = hidden_scale[0], min(hidden_scale[1] + BYTE_BITS, 2)
        shift = (shift - BYTE_BITS).clip(-31, MAX_LONG_SHIFT)
    bias = rng.integers(-9999, 9999, units * GATES)
    params = Lstm(
        builder.input(int8s(rng, (rows * units * GATES * SHORT_BYTES,))),
        builder.output((rows, units * size)),
        builder.input(int8s(rng, (batches, units * size))),
        builder.input(int8s(rng, (batches * units * SHORT_BYTES,))),
        builder.constant(pack_conv(weights) if kernel.where is Where.SIMD else weights, np.int8),
        builder.constant(bias) if number % 3 and not is_short else Ref(),
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
        0 if is_short else int(rng.integers(-128, 128)),
    )
    builder.step(kernel, params)
