"""LOG_SOFTMAX of the firmware against the reference, where sums and distances are extreme."""

from typing import Any

import numpy as np
import pytest

from kiwicha.contract.program import Kernel
from kiwicha.kernels.log_softmax import LogSoftmax
from kiwicha.numerics.logarithm import log_softmax_distances, natural_logarithm
from kiwicha.numerics.requantization import rounding_divide_by_pot, softmax_exponentials
from kiwicha.sim.reference import executor as reference
from tests.support.programs.steps import ProgramBuilder, int8s


def check(run_steps: Any, values: np.ndarray, exponentials: Any, distances: Any) -> None:
    builder = ProgramBuilder()
    source, target = builder.input(values), builder.output(values.shape)
    tables = builder.constant(exponentials), builder.constant(distances)
    builder.step(Kernel.LOG_SOFTMAX, LogSoftmax(source, target, *tables, *values.shape, 127))
    (actual,) = run_steps(builder)
    (expected,) = reference.run(builder.program(), [values])
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("scale", [1e-7, 0.02, 0.3, 16.0])
@pytest.mark.parametrize("depth", [1, 2, 7, 260, 4095])
def test_log_softmax(run_steps: Any, depth: int, scale: float) -> None:
    values = int8s(np.random.default_rng(depth), (3, depth))
    check(run_steps, values, softmax_exponentials(scale, 1.0), log_softmax_distances(scale))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 1023, 1024, 2048, 4095])
def test_rows_of_equal_numbers(run_steps: Any, depth: int) -> None:
    """Sums up to the largest one, and powers of two."""
    values = np.full((2, depth), -5, np.int8)
    check(run_steps, values, softmax_exponentials(0.1, 1.0), log_softmax_distances(0.1))


@pytest.mark.parametrize("largest", [1, 5, 1500])
def test_every_bit_of_a_logarithm_counts(run_steps: Any, largest: int) -> None:
    """Each row's last output is at a half step, or just below: a last bit makes another one."""
    rng = np.random.default_rng(largest)
    exponentials = np.array([2**31 - 1, *np.sort(rng.integers(0, 2**31 - 1, 255))[::-1]])
    values = np.full((255, largest + 1), 127)
    values[:, -1] -= np.arange(1, 256)
    terms = rounding_divide_by_pot(exponentials, 12)
    logarithms = [natural_logarithm(int(largest * terms[0] + term)) for term in terms[1:]]
    for offset in (0, -1):
        distances = (offset - np.array([0, *logarithms]) - (1 << 21)) % (1 << 22)
        check(run_steps, values.astype(np.int8), exponentials, distances)


@pytest.mark.parametrize("largest", [-128, -127, 124, 125, 126])
def test_largest_numbers_of_long_rows(run_steps: Any, largest: int) -> None:
    """Their table of outputs ends with the least input, which is seldom that of four entries."""
    values = np.random.default_rng(largest + 128).integers(-128, largest, (1, 900), endpoint=True)
    values[:, 7], values[:, 8] = largest, -128
    rows = values.astype(np.int8)
    check(run_steps, rows, softmax_exponentials(0.05, 1.0), log_softmax_distances(0.05))
