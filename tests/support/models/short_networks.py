"""Random networks whose first layers are of int16, and the last ones of int8."""

import random

import numpy as np

from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.oracle import MICRO, Case

__all__ = ["short_network"]

_SAME = {"padding": PADDINGS["SAME"], "strideH": 1, "strideW": 1}
_RELU = {"fusedActivationFunction": ACTIVATIONS["RELU"]}


def short_network(rng: random.Random) -> Case:
    """Return a residual network for an image of int16, and an input.

    CONV_2D with padding by a PAD, LEAKY_RELU, DEPTHWISE_CONV_2D, ADD, AVERAGE_POOL_2D, TRANSPOSE,
    LOGISTIC, MUL and QUANTIZE to int8, then a FULLY_CONNECTED and a SOFTMAX.
    """
    numbers = np.random.default_rng(rng.getrandbits(64))
    builder = ModelBuilder()
    size, channels = 2 * rng.randint(2, 4), rng.choice([4, 8])
    image, wide = (1, size, size, 3), (1, size, size, channels)
    scale = 2.0**-10

    def short(shape: tuple[int, ...], scale: float) -> int:
        return builder.tensor(shape, np.int16, scale=scale)

    def weights(shape: tuple[int, ...], axis: int, source: float) -> list[int]:
        scales = numbers.uniform(0.002, 0.01, shape[axis]).astype(np.float32)
        data = numbers.integers(-127, 128, shape).astype(np.int8)
        bias = numbers.integers(-(2**20), 2**20, shape[axis])
        products = np.float32(source) * scales
        return [
            builder.tensor(shape, np.int8, scale=scales, axis=axis, data=data),
            builder.tensor((shape[axis],), np.int64, scale=products, data=bias),
        ]

    x, padded = short(image, scale), short((1, size + 2, size + 2, 3), scale)
    amounts = np.array([(0, 0), (1, 1), (1, 1), (0, 0)], np.int32)
    around = builder.tensor((4, 2), np.int32, data=amounts)
    builder.operator("PAD", [x, around], [padded])
    first, leaky = short(wide, 4 * scale), short(wide, 3 * scale)
    builder.operator(
        "CONV_2D",
        [padded, *weights((channels, 3, 3, 3), 0, scale)],
        [first],
        **(_SAME | {"padding": PADDINGS["VALID"]}),
    )
    builder.operator("LEAKY_RELU", [first], [leaky], alpha=0.2)
    second, total = short(wide, 2 * scale), short(wide, 4 * scale)
    operands = [leaky, *weights((1, 3, 3, channels), 3, 3 * scale)]
    builder.operator("DEPTHWISE_CONV_2D", operands, [second], depthMultiplier=1, **_SAME)
    builder.operator("ADD", [leaky, second], [total], **_RELU)
    half = (1, size // 2, size // 2, channels)
    pooled, turned = short(half, 4 * scale), short((1, channels, *half[1:3]), 4 * scale)
    window = {"filterHeight": 2, "filterWidth": 2, "strideH": 2, "strideW": 2}
    builder.operator("AVERAGE_POOL_2D", [total], [pooled], **(_SAME | window))
    order = builder.tensor((4,), np.int32, data=np.array([0, 3, 1, 2], np.int32))
    builder.operator("TRANSPOSE", [pooled, order], [turned])
    gate, gated = short((1, channels, *half[1:3]), 2.0**-15), short(turned_shape(half), scale)
    builder.operator("LOGISTIC", [turned], [gate])
    builder.operator("MUL", [turned, gate], [gated])
    count = channels * half[1] * half[2]
    narrow, logits = builder.tensor(turned_shape(half), scale=0.02), 0.05
    builder.operator("QUANTIZE", [gated], [narrow])
    flat = builder.tensor((1, count), scale=0.02)
    builder.operator("RESHAPE", [narrow], [flat])
    matrix = numbers.integers(-127, 128, (10, count)).astype(np.int8)
    dense = builder.tensor((10, count), scale=0.004, data=matrix)
    y, z = builder.tensor((1, 10), scale=logits), builder.tensor((1, 10), np.int16, scale=2.0**-12)
    builder.operator("FULLY_CONNECTED", [flat, dense], [y])
    builder.operator("QUANTIZE", [y], [z])
    out = short((1, 10), 2.0**-15)
    builder.operator("SOFTMAX", [z], [out], beta=1.0)
    values = numbers.integers(-(2**15), 2**15, image).astype(np.int16)
    return Case(builder.build([x], [total, gated, y, out]), (values,), MICRO)


def turned_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape with channels in front of rows and columns."""
    batches, height, width, channels = shape
    return (batches, channels, height, width)
