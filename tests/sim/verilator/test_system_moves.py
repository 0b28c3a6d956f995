"""Operators that only move data on the simulated system on chip, byte for byte."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import run_program
from tests.support.models import random_moves
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.oracle import Case

pytestmark = pytest.mark.verilator


def check(case: Case, config: str) -> None:
    program = compile_model(case.model, config)
    expected = tuple(output.tobytes() for output in reference.run(program, case.inputs))
    inputs = [values.tobytes() for values in case.inputs]
    assert run_program(program, inputs).outputs == expected


def odd_sizes() -> bytes:
    """Return a model whose runs start and end between words, with gaps, backwards, repeated."""
    builder = ModelBuilder()

    def tensor(*shape: int) -> int:
        return builder.tensor(shape, scale=0.5, zero_point=-7)

    def table(values: Any) -> int:
        array = np.array(values, np.int32)
        return builder.tensor(array.shape, np.int32, data=array)

    x, y = tensor(1, 7, 5, 3), tensor(1, 7, 5, 6)
    joined, turned, cut = tensor(1, 7, 5, 9), tensor(1, 9, 7, 5), tensor(1, 9, 7, 3)
    wide, large = tensor(1, 9, 7, 6), tensor(1, 12, 9, 7)
    builder.operator("CONCATENATION", [x, y], [joined], axis=3)
    builder.operator("TRANSPOSE", [joined, table([0, 3, 1, 2])], [turned])
    steps = [table(values) for values in ([0, 0, 0, 4], [1, 9, 7, -6], [1, 1, 1, -2])]
    builder.operator("STRIDED_SLICE", [turned, *steps], [cut])
    taller = tensor(1, 11, 12, 3)
    builder.operator("RESIZE_NEAREST_NEIGHBOR", [cut, table([11, 12])], [taller])
    builder.operator("CONCATENATION", [cut, cut], [wide], axis=3)
    pads = table([[0, 0], [1, 2], [2, 0], [0, 1]])
    builder.operator("PAD", [wide, pads], [large])
    return builder.build([x, y], [turned, large, taller])


def test_odd_sizes() -> None:
    rng = np.random.default_rng(0)
    shapes = (1, 7, 5, 3), (1, 7, 5, 6)
    values = tuple(rng.integers(-128, 128, shape, np.int8) for shape in shapes)
    check(Case(odd_sizes(), values), "simd")


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("operator", random_moves.OPERATORS)
def test_operators_on_the_engine(operator: str) -> None:
    for seed in range(3):
        check(random_moves.single_operator(operator, seed), "64")


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("config", ["baseline", "simd"])
@pytest.mark.parametrize("operator", random_moves.OPERATORS)
def test_operators(operator: str, config: str) -> None:
    for seed in range(3):
        check(random_moves.single_operator(operator, seed), config)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("config", ["simd", "32", "64", "128"])
@pytest.mark.parametrize("seed", range(5))
def test_networks(seed: int, config: str) -> None:
    check(random_moves.network(seed), config)
