"""Models of one dense layer of any size."""

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

__all__ = ["dense"]


def dense(batches: int, inputs: int, outputs: int) -> oracle.Case:
    """Give a FULLY_CONNECTED with random weights and its input."""
    rng = np.random.default_rng([batches, inputs, outputs])
    builder = ModelBuilder()
    x = builder.tensor((batches, inputs), scale=0.05, zero_point=-4)
    weights = rng.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    bias = rng.integers(-1000, 1000, outputs).astype(np.int32)
    w = builder.tensor(weights.shape, scale=0.01, data=weights)
    b = builder.tensor((outputs,), np.int32, scale=0.0005, data=bias)
    y = builder.tensor((batches, outputs), scale=1.7, zero_point=6)
    builder.operator("FULLY_CONNECTED", [x, w, b], [y])
    values = rng.integers(-128, 128, (batches, inputs)).astype(np.int8)
    return oracle.Case(builder.build([x], [y]), (values,))
