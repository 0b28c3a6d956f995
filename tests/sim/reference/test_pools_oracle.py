"""Average pools with windows that one job cannot sum, against the oracle."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Where
from kiwicha.sim.reference import executor as reference
from kiwicha.tflite_writer.builder import PADDINGS
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

CASES = {
    "wide": ((1, 12, 40, 16), (3, 15), (1, 1), "VALID"),
    "wide with borders": ((1, 9, 24, 8), (2, 12), (1, 1), "SAME"),
    "wide strides": ((1, 34, 50, 24), (17, 25), (17, 25), "VALID"),
    "high and wide": ((1, 64, 40, 8), (40, 17), (8, 1), "VALID"),
    "the image": ((1, 60, 58, 16), (60, 58), (1, 1), "VALID"),
    "nine columns": ((1, 14, 14, 24), (9, 9), (1, 1), "VALID"),
    "nine columns with borders": ((1, 10, 10, 16), (9, 9), (1, 1), "SAME"),
    "seventeen columns": ((1, 17, 19, 24), (17, 17), (1, 1), "VALID"),
    "an odd image": ((1, 65, 65, 21), (65, 65), (1, 1), "VALID"),
    "images": ((2, 60, 58, 16), (60, 58), (1, 1), "VALID"),
}


@pytest.mark.parametrize("config", ["64", "128-8k-r4"])
@pytest.mark.parametrize("case", CASES)
def test_windows(case: str, config: str) -> None:
    shape, window, strides, padding = CASES[case]
    rng = np.random.default_rng(window[1])
    builder = ModelBuilder()
    x = builder.tensor(shape, scale=0.05, zero_point=-9)
    sizes = [
        -(-size // stride) if padding == "SAME" else (size - extent) // stride + 1
        for size, extent, stride in zip(shape[1:3], window, strides, strict=True)
    ]
    y = builder.tensor((shape[0], *sizes, shape[3]), scale=0.05, zero_point=-9)
    builder.operator(
        "AVERAGE_POOL_2D",
        [x],
        [y],
        padding=PADDINGS[padding],
        filterHeight=window[0],
        filterWidth=window[1],
        strideH=strides[0],
        strideW=strides[1],
    )
    values = rng.integers(-128, 128, shape, np.int8)
    asked = oracle.Case(builder.build([x], [y]), (values,))
    (answer,) = oracle.ask([asked], oracle.MICRO)
    assert answer.outputs is not None, answer.error
    stages = compile_stages(asked.model, config)
    if config == "64":
        assert {layer.where for layer in stages.program.layers} == {Where.ENGINE}
    (found,) = reference.run(stages.program, asked.inputs)
    np.testing.assert_array_equal(found, answer.outputs[0])
