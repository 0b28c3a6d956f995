"""Moves that read constants, and values of differing bytes that fill gaps."""

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Where
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SCALE = {"scale": 0.05, "zero_point": 9}
SHAPE = (1, 6, 5, 16)
CONFIGS = ("32", "64", "128")


def compare(case: oracle.Case, interpreter: oracle.Interpreter = oracle.MICRO) -> None:
    """Compare the reference executor with the oracle, everything on the engine."""
    (answer,) = oracle.ask([case], interpreter)
    assert answer.outputs is not None, answer.error
    for config in CONFIGS:
        stages = compile_stages(case.model, config)
        places = {layer.where for layer in stages.program.layers}
        assert places == {Where.ENGINE}, stages.engine.selection.decisions[0].why_not
        (found,) = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
        np.testing.assert_array_equal(found, answer.outputs[0])


@pytest.mark.parametrize("size", [5, 16, 4000])
@pytest.mark.parametrize("is_rescaled", [False, True], ids=["int8", "uint8 of another scale"])
@pytest.mark.parametrize("is_first", [False, True], ids=["last", "first"])
@pytest.mark.parametrize("axis", [1, 3])
def test_concatenations(axis: int, is_first: bool, is_rescaled: bool, size: int) -> None:
    rng = np.random.default_rng(size)
    builder = ModelBuilder()
    dtype = np.uint8 if is_rescaled else np.int8
    ends = np.iinfo(dtype).min, np.iinfo(dtype).max + 1
    x = builder.tensor(SHAPE, dtype, **SCALE)
    shape = tuple(size if number == axis else n for number, n in enumerate(SHAPE))
    scale = 0.03 if is_rescaled else SCALE["scale"]
    data = rng.integers(*ends, shape, dtype)
    constant = builder.tensor(shape, dtype, scale=scale, zero_point=9, data=data)
    total = tuple(n + size if number == axis else n for number, n in enumerate(SHAPE))
    y = builder.tensor(total, dtype, **SCALE)
    builder.operator("CONCATENATION", [constant, x] if is_first else [x, constant], [y], axis=axis)
    case = oracle.Case(builder.build([x], [y]), (rng.integers(*ends, SHAPE, dtype),))
    compare(case, oracle.LITERT if is_rescaled else oracle.MICRO)


@pytest.mark.parametrize("value", [0x01020304, -2, 0x05050505])
def test_fills_of_several_bytes(value: int) -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 6, 5, 3), np.int32)
    pads = builder.tensor(
        (4, 2), np.int32, data=np.array([[0, 0], [1, 2], [3, 0], [0, 1]], np.int32)
    )
    number = builder.tensor((1,), np.int32, data=np.array([value], np.int32))
    y = builder.tensor((1, 9, 8, 4), np.int32)
    builder.operator("PADV2", [x, pads, number], [y])
    values: NDArray[np.int32] = np.random.default_rng(1).integers(-(2**31), 2**31, (1, 6, 5, 3))
    compare(oracle.Case(builder.build([x], [y]), (values.astype(np.int32),)), oracle.LITERT)
