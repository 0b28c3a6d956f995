"""ADD, SUB and MUL of a constant for each channel, by channel or as a sum of two tensors."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.element_operations import Addition, TableLookup
from kiwicha.contract.program import Where
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

Shape = tuple[int, ...]
FEW_PIXELS, MANY_PIXELS = (1, 14, 14, 512), (1, 40, 40, 8)


def with_constant(operator: str, shape: Shape, *, is_first: bool = False) -> oracle.Case:
    """Give a model of an operator with a constant for each channel, and an input."""
    rng = np.random.default_rng(shape[-1])
    builder = ModelBuilder()
    x = builder.tensor(shape, scale=0.05, zero_point=-9)
    values = rng.integers(-128, 128, (shape[-1],), np.int8)
    c = builder.tensor(values.shape, scale=0.021, zero_point=17, data=values)
    y = builder.tensor(shape, scale=0.06, zero_point=4)
    builder.operator(operator, [c, x] if is_first else [x, c], [y], fusedActivationFunction=1)
    return oracle.Case(builder.build([x], [y]), (rng.integers(-128, 128, shape, np.int8),))


@pytest.mark.parametrize("operator", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize("is_first", [False, True], ids=["second", "first"])
@pytest.mark.parametrize("shape", [FEW_PIXELS, MANY_PIXELS, (1, 7, 7, 508), (196, 512)], ids=str)
def test_operators(operator: str, shape: Shape, is_first: bool) -> None:
    case = with_constant(operator, shape, is_first=is_first)
    (answer,) = oracle.ask([case], oracle.MICRO)
    assert answer.outputs is not None, answer.error
    for config in ("32", "64", "128"):
        stages = compile_stages(case.model, config)
        assert {layer.where for layer in stages.program.layers} == {Where.ENGINE}
        (found,) = reference.run(stages.program, case.inputs)
        np.testing.assert_array_equal(found, answer.outputs[0])


def test_few_pixels_have_one_table_for_all_channels() -> None:
    few, many = (
        compile_stages(with_constant("ADD", shape).model, "64").engine.operations[0].steps[-1]
        for shape in (FEW_PIXELS, MANY_PIXELS)
    )
    assert isinstance(few, Addition)
    assert isinstance(many, TableLookup)
    assert many.is_by_channel
