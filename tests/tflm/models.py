"""A model of which TensorFlow Lite Micro has to compute a part."""

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["mixed"]


def mixed() -> bytes:
    """Return ADD and DEQUANTIZE, then SIN of float32, then QUANTIZE and MUL."""
    builder = ModelBuilder("mixed")
    shape = (1, 4, 4, 3)
    x = builder.tensor(shape, scale=0.1, zero_point=-5, name="x")
    double = builder.tensor(shape, scale=0.2, zero_point=3, name="double")
    real = builder.tensor(shape, np.float32, name="real")
    sine = builder.tensor(shape, np.float32, name="sine")
    back = builder.tensor(shape, scale=1 / 128, zero_point=1, name="back")
    y = builder.tensor(shape, scale=1 / 64, zero_point=-7, name="y")
    builder.operator("ADD", [x, x], [double], potScaleInt16=False)
    builder.operator("DEQUANTIZE", [double], [real])
    builder.operator("SIN", [real], [sine])
    builder.operator("QUANTIZE", [sine], [back])
    builder.operator("MUL", [back, back], [y], fusedActivationFunction=1)
    return builder.build([x], [y], signatures={"serve": ({"in": x}, {"out": y})})
