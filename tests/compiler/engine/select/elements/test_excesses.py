"""MAXIMUM, MINIMUM and SQUARED_DIFFERENCE as sums of tables."""

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.engine import JobKind
from kiwicha.contract.program import Kernel
from tests.support.models.pair_layers import CHOICES, Quantization, Shape, all_pairs, pair
from tests.support.oracle.on_engine import job_kinds, on_engine

OPERATORS = (*CHOICES, "SQUARED_DIFFERENCE")


@pytest.mark.parametrize("operator", OPERATORS)
def test_all_pairs_of_bytes(operator: str) -> None:
    assert {*job_kinds(on_engine(all_pairs(operator), "64"))} == {JobKind.ADD}


@pytest.mark.parametrize(
    "scales",
    [
        ((0.05, 3), (0.05, -20), (0.1, 4)),
        ((0.05, 127), (0.05, -128), (0.02, -128)),
        ((0.05, -7), (0.025, 60), (0.01, -7)),
        ((0.0125, 8), (0.05, 0), (0.005, -128)),
    ],
    ids=["zero points", "far zero points", "half", "quarter"],
)
def test_squares_that_settle(scales: tuple[Quantization, ...]) -> None:
    """Differences of more than 255 steps, of which all outputs are the largest one."""
    case = all_pairs("SQUARED_DIFFERENCE", scales)
    assert {*job_kinds(on_engine(case, "64"))} == {JobKind.ADD}


@pytest.mark.parametrize(
    ("scales", "steps"),
    [
        (((0.05, 3), (0.043, 3), (0.7, -7)), "15,209"),
        (((0.05, 3), (0.05, -20), (3.0, -128)), "278"),
    ],
    ids=["scales", "zero points"],
)
def test_other_squares_are_for_the_cpu(scales: tuple[Quantization, ...], steps: str) -> None:
    image = (1, 9, 8, 24)
    stages = compile_stages(pair("SQUARED_DIFFERENCE", image, image, scales=scales).model, "64")
    assert [call.kernel for call in stages.kernel_calls] == [Kernel.SQUARED_DIFFERENCE]
    why = f"it has outputs that change up to a difference of {steps} steps"
    assert engine_refusals(stages) == {0: why}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("shape", [(1, 40, 40, 24), (1, 640), (70, 33), (2, 9, 7, 12)], ids=str)
def test_stripes_and_shapes(operator: str, shape: Shape) -> None:
    case = pair(operator, shape, shape)
    for config in ("32", "128", "64-8k"):
        on_engine(case, config)
