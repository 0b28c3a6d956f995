"""MEAN and SUM over any dimensions: behind others, apart, or of 1."""

import math

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Where
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

Shape = tuple[int, ...]


def reduction(operator: str, shape: Shape, axes: Shape, *, keeps: bool = False) -> oracle.Case:
    """Give a model of a MEAN or SUM, and an input."""
    rng = np.random.default_rng(math.prod(shape))
    builder = ModelBuilder()
    x = builder.tensor(shape, scale=0.05, zero_point=-9)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    output = kept if keeps else tuple(n for axis, n in enumerate(shape) if axis not in axes)
    scale = 0.03 if operator == "MEAN" else 0.03 * math.prod(shape) / math.prod(output)
    y = builder.tensor(output, scale=scale, zero_point=11)
    places = builder.tensor((len(axes),), np.int32, data=np.array(axes, np.int32))
    builder.operator(operator, [x, places], [y], keepDims=keeps)
    return oracle.Case(builder.build([x], [y]), (rng.integers(-128, 128, shape, np.int8),))


CASES = {
    "behind others": ((1, 160, 3, 3), (3,)),
    "of rows": ((1, 24, 7), (2,)),
    "of channels": ((1, 9, 14, 20), (3,)),
    "all but the first": ((6, 5, 3, 8), (1, 2, 3)),
    "apart": ((4, 5, 6, 8), (0, 2)),
    "apart, behind others": ((3, 5, 6, 8), (1, 3)),
    "apart in images": ((2, 3, 4, 5, 16), (1, 3)),
    "of many": ((1, 60, 50, 13), (3,)),
    "all": ((2, 4, 5, 8), (0, 1, 2, 3)),
    "more than a job sums": ((1, 56, 56, 24), (1, 2)),
    "a prime number of": ((1, 1, 521, 20), (1, 2)),
    "more than a job sums in images": ((3, 1, 521, 8), (1, 2)),
    "more than the scratchpad": ((1, 61, 67, 40), (1, 2)),
    "images that fill the scratchpad": ((2, 56, 56, 32), (1, 2)),
    "of large images": ((4, 56, 56, 32), (0,)),
    "of more channels than sums are kept": ((1, 7, 7, 4992), (1, 2)),
    "odd images that fill it": ((3, 71, 73, 16), (1, 2)),
}


@pytest.mark.parametrize("operator", ["MEAN", "SUM"])
@pytest.mark.parametrize("case", CASES)
def test_any_dimensions(case: str, operator: str) -> None:
    shape, axes = CASES[case]
    compare(reduction(operator, shape, axes, keeps=len(axes) == len(shape)))


@pytest.mark.parametrize("shape", [(1, 1, 1, 48), (2, 1, 1, 5)], ids=str)
@pytest.mark.parametrize("operator", ["MEAN", "SUM"])
def test_dimensions_of_one_are_a_table(operator: str, shape: Shape) -> None:
    compare(reduction(operator, shape, (1, 2)))


def compare(case: oracle.Case) -> None:
    """Compare the reference executor with the oracle, everything on the engine."""
    (answer,) = oracle.ask([case], oracle.MICRO)
    assert answer.outputs is not None, answer.error
    for config in ("32", "64", "128"):
        stages = compile_stages(case.model, config)
        assert {layer.where for layer in stages.program.layers} == {Where.ENGINE}
        (found,) = reference.run(stages.program, case.inputs)
        np.testing.assert_array_equal(found, answer.outputs[0])
