"""Images that get another size on the engine, against the oracle of each type."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import at_night, by_day
from tests.support.models.resized import WAYS, Resized
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

CHANNELS = {2: 8, 3: 24, 4: 21, 8: 3, 16: 3}
"""Of images that become so many times larger."""
TYPES = {np.int8: oracle.MICRO, np.uint8: oracle.LITERT}
POWERS = [
    Resized(5, 4, CHANNELS[factor], factor, factor, way)
    for factor in (2, 4, 8, 16)
    for way in WAYS
    if (factor, way) != (16, "centers")
]
OTHERS = [
    Resized(4, 5, 21, 1, 2, "centers"),
    Resized(5, 4, 3, 4, 1, "plain"),
    Resized(3, 5, 24, 8, 2, "corners"),
    Resized(3, 4, 8, 2, 4, "centers", images=2),
    Resized(2, 3, 8, 4, 4, "plain", images=3),
]
# None of these fits the scratchpad of 8 KiB.
LARGE = [
    Resized(24, 20, 16, 2, 2, "centers"),
    Resized(9, 5, 21, 16, 8, "corners"),
    Resized(10, 3, 24, 8, 16, "plain"),
    Resized(20, 5, 3, 8, 8, "centers"),
]
# They take several lists of as many jobs as there can be.
LARGEST = [Resized(17, 9, 21, 16, 8, "corners"), Resized(20, 3, 24, 8, 16, "plain")]


def check(item: Resized, dtype: Any, config: str) -> Program:
    """Compare the engine with the oracle; give the Program."""
    case = item.case(dtype)
    (answer,) = oracle.ask([case], TYPES[dtype])
    assert answer.outputs is not None
    program = compile_model(case.model, config)
    assert {step.kernel for step in program.steps} == {Kernel.ENGINE}
    (got,) = reference.run(program, case.inputs)
    np.testing.assert_array_equal(got, answer.outputs[0])
    return program


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("item", [*POWERS, *OTHERS], ids=str)
def test_larger_images(item: Resized, dtype: Any) -> None:
    check(item, dtype, "64")


@pytest.mark.parametrize(
    ("item", "dtype"),
    [
        # By day each type has a quarter of them.
        ((item, dtype) if (number + 2 * is_unsigned) % 4 == 0 else at_night((item, dtype)))
        for number, item in enumerate(LARGE)
        for is_unsigned, dtype in enumerate(TYPES)
    ]
    + [at_night((item, dtype)) for item in LARGEST for dtype in TYPES],
    ids=lambda value: str(getattr(value, "__name__", value)),
)
def test_stripes_of_larger_images(item: Resized, dtype: Any) -> None:
    check(item, dtype, "64-8k")


@pytest.mark.parametrize(
    "item",
    by_day(*(Resized(*shape, 16, 16, "corners") for shape in ((9, 9, 3), (17, 9, 21)))),
    ids=str,
)
def test_more_phases_than_a_list_has_jobs(item: Resized) -> None:
    program = check(item, np.int8, "64-8k")
    assert len(program.steps) > 1


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("config", ["32", "128"])
def test_engines(config: str, dtype: Any) -> None:
    check(Resized(5, 4, 21, 4, 4, "centers"), dtype, config)


PASSES = [
    (Resized(7, 5, 8, Fraction(12, 7), Fraction(9, 5), "centers"), np.int8, "64"),
    (Resized(9, 11, 21, Fraction(2, 3), Fraction(5, 4), "corners", images=2), np.int8, "64"),
    (Resized(6, 8, 3, Fraction(1, 2), Fraction(7, 8), "centers"), np.int8, "32"),
    (Resized(4, 5, 40, 20, Fraction(7, 5), "plain"), np.int8, "256"),
    (Resized(5, 3, 24, 3, 5, "centers"), np.uint8, "64"),
    (Resized(6, 9, 12, Fraction(5, 3), Fraction(7, 3), "plain", images=3), np.uint8, "128"),
    # In stripes, and in parts of rows whose sums are kept.
    (Resized(21, 6, 16, Fraction(4, 3), Fraction(9, 4), "centers"), np.int8, "64-8k"),
    (Resized(9, 8, 24, 3, 3, "corners"), np.uint8, "64-16k"),
    (Resized(2, 50, 64, 3, Fraction(7, 5), "centers"), np.int8, "64"),
]


@pytest.mark.parametrize(("item", "dtype", "config"), PASSES, ids=str)
def test_two_passes(item: Resized, dtype: Any, config: str) -> None:
    check(item, dtype, config)


WIDE = [
    (Resized(3, 5, 24, 2, Fraction(37, 5), "centers"), np.int8),
    (Resized(4, 6, 21, Fraction(5, 4), Fraction(71, 6), "centers", images=2), np.int8),
    at_night((Resized(9, 5, 16, Fraction(1, 2), Fraction(83, 5), "plain"), np.int8)),
    at_night((Resized(5, 7, 40, 3, 5, "centers"), np.uint8)),
]
"""Whose rows take blocks of columns, the last of which overlaps the one before."""


@pytest.mark.parametrize(("item", "dtype"), WIDE, ids=str)
def test_blocks_of_columns(item: Resized, dtype: Any) -> None:
    stages = compile_stages(item.case(dtype).model, "64-8k")
    kernels = [layer.kernel for layer in stages.network.layers]
    assert kernels.count(Kernel.RESIZE_BILINEAR) > 1
    check(item, dtype, "64-8k")
