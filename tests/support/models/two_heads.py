"""A model in which the CPU can work beside the engine."""

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["SHAPE", "two_heads"]

SHAPE = (1, 24, 24, 8)


def two_heads() -> bytes:
    """Build a convolution with a SOFTMAX and a second convolution behind it."""
    rng = np.random.default_rng(7)
    builder = ModelBuilder()
    image = builder.tensor(SHAPE, scale=0.5, zero_point=3)

    def conv(source: int) -> int:
        data = rng.integers(-127, 128, (8, 1, 1, 8), np.int8)
        weights = builder.tensor(data.shape, scale=0.003, data=data)
        output = builder.tensor(SHAPE, scale=0.5, zero_point=-4)
        builder.operator("CONV_2D", [source, weights], [output], strideH=1, strideW=1)
        return output

    trunk = conv(image)
    scores = builder.tensor(SHAPE, scale=1 / 256, zero_point=-128)
    builder.operator("SOFTMAX", [trunk], [scores], beta=1.0)
    return builder.build(inputs=[image], outputs=[scores, conv(trunk)])
