"""Largest and smallest bytes and their positions: against numpy, and which stay on the CPU."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.select.reductions import extremes
from kiwicha.contract.program import Kernel
from kiwicha.numerics.requantization import requantize
from kiwicha.sim.reference import executor as reference
from tests.support.choices import at_night
from tests.support.models.random_layers import RandomModel
from tests.support.oracle import oracle

POSITIONS = [
    ((1, 9, 13, 21), 3),  # a row of pixels that is no whole word
    ((1, 8, 16, 21), 3),
    ((300, 7), 1),  # no rows of their own
    ((3, 5, 100), 2),
    ((1, 17, 11, 8), 1),  # words of one group
    ((1, 17, 11, 9), 2),  # pixels with gaps behind them
    ((2, 128, 30), 1),
    ((1, 9, 13, 150), 3),  # positions that are no int8
    ((2, 256, 9), 1),
    ((40, 255), 1),
]
REDUCTIONS = [
    ((1, 9, 13, 21), [3]),
    ((1, 8, 16, 21), [3]),
    ((1, 17, 11, 9), [2]),
    ((2, 20, 20, 5), [1, 2]),
    ((1, 20, 20, 24), [1, 2]),
    ((4, 257, 8), [1]),  # windows that overlap
    ((4, 257), [1]),  # rows that are lengthened
    ((2, 17, 261), [2]),  # pixels that are transposed, of windows that overlap
    ((4, 16, 9, 8), [1, 3]),  # dimensions that are apart
    ((2, 5, 3, 7, 11), [1, 3]),  # with gaps between their pixels
    ((1, 20, 20, 64), [1, 2, 3]),
    ((1, 60, 61, 3), [1, 2]),  # pixels that are taken together
    ((1, 80, 82, 16), [1, 2]),  # more than the scratchpad holds
]
MANY_POSITIONS = [
    ((1, 1001), 1),
    ((4, 1000), 1),
    ((16, 24, 256), 2),  # pixels have no rows as long as a job's
    ((1, 3072, 17), 1),
    ((2, 510, 64), 1),
]
CONFIGS = ["64", at_night("32"), at_night("128")]


def position_model(operator: str, shape: tuple[int, ...], axis: int, seed: int) -> oracle.Case:
    model = RandomModel(random.Random(f"{operator}{shape}{seed}"))
    return model.case([model.position(operator, model.input(shape), axis)])


def reduction_model(operator: str, shape: tuple[int, ...], axes: list[int]) -> oracle.Case:
    model = RandomModel(random.Random(f"{operator}{shape}"))
    return model.case([model.mean(model.input(shape), axes, keep=False, operator=operator)])


def check(cases: list[oracle.Case], config: str, *kernels: Kernel) -> None:
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        program = compile_model(case.model, config)
        assert [step.kernel for step in program.steps] == [Kernel.ENGINE, *kernels]
        (found,) = reference.run(program, case.inputs)
        assert found.dtype == answer.outputs[0].dtype
        np.testing.assert_array_equal(found, answer.outputs[0])


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("operator", ["ARG_MAX", "ARG_MIN"])
def test_positions_equal_the_oracles(operator: str, config: str) -> None:
    cases = [position_model(operator, *case, seed) for case in POSITIONS for seed in range(2)]
    assert oracle.LITERT in {case.interpreter for case in cases}  # gives int64
    check(cases, config)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("operator", ["ARG_MAX", "ARG_MIN"])
def test_many_positions_are_found_in_parts(operator: str, config: str) -> None:
    cases = [position_model(operator, *case, 0) for case in MANY_POSITIONS]
    check(cases, config, Kernel.ARG_MAX_OF_PARTS)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("operator", ["REDUCE_MAX", "REDUCE_MIN"])
def test_reductions_equal_the_oracles(operator: str, config: str) -> None:
    check([reduction_model(operator, *case) for case in REDUCTIONS], config)


def test_a_stripe_has_all_channels_of_its_rows() -> None:
    # Larger than the scratchpad: 52 rows of 64 pixels.
    check([position_model("ARG_MAX", (1, 52, 64, 21), 3, 0)], "64")


@pytest.mark.parametrize(("zero_point", "most"), [(0, extremes.INT8_POSITIONS), (-128, 256)])
def test_a_position_is_what_is_left_of_any_sum(zero_point: int, most: int) -> None:
    sums = np.arange(most * 256)
    clamp = (zero_point, zero_point + most - 1)
    found = requantize(sums - 128, *extremes.POSITION_SCALE, zero_point, *clamp)
    np.testing.assert_array_equal(found, sums // 256 + zero_point)


@pytest.mark.parametrize(
    ("case", "kernel"),
    [
        (position_model("ARG_MAX", (1, 5, 5, 10), 3, 0), Kernel.ARG_MAX),
        (position_model("ARG_MAX", (1, 5, 5, 257), 3, 0), Kernel.ARG_MAX),
    ],
    ids=["few bytes", "a prime number of positions"],
)
def test_stays_on_the_cpu(case: oracle.Case, kernel: Kernel) -> None:
    program = compile_model(case.model, "64")
    assert [step.kernel for step in program.steps] == [kernel]
