"""Rows that are divided by their lengths."""

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.l2_normalization import L2Normalization
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add", "add_shape"]

PARAMS = L2Normalization


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, as for uint8 if the number is odd; of few or many different bytes."""
    rows, depth = (int(rng.integers(1, 30)) for _ in range(2))
    spread = int(rng.choice([1, 3, 20, 128]))
    zero_point = int(rng.integers(-128, 128))
    values = zero_point + rng.integers(-spread, spread + 1, (rows, depth))
    source = builder.input(values.clip(-128, 127).astype(np.int8))
    _add_step(builder, kernel, source, (rows, depth), -zero_point, 7 * (number % 2))


def add_shape(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, rows: int, depth: int
) -> None:
    """Add a step of rows of a length."""
    source = builder.input(int8s(rng, (rows, depth)))
    _add_step(builder, kernel, source, (rows, depth), int(rng.integers(-20, 20)), 0)


def _add_step(
    builder: ProgramBuilder,
    kernel: Kernel,
    source: Ref,
    shape: tuple[int, int],
    offset: int,
    early_bits: int,
) -> None:
    target = builder.output(shape)
    builder.step(kernel, L2Normalization(source, target, *shape, offset, early_bits))
