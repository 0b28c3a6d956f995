"""Models of one convolution of which some channels are wide for the requantizer."""

import random
from collections.abc import Sequence

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

__all__ = ["convolution", "random_convolution"]

_WIDE_SCALE = 100.0
"""Of a channel's weights: its multiplier is 500, and shifted sums need more than 25 bits."""


def convolution(
    wide: Sequence[int],
    *,
    is_depthwise: bool = False,
    inputs: int = 8,
    channels: int = 64,
    side: int = 32,
    kernel: int = 1,
    stride: int = 1,
) -> oracle.Case:
    """Give a CONV_2D or DEPTHWISE_CONV_2D with random weights and its input.

    Parameters
    ----------
    wide : sequence of int
        Wide output channels.
    is_depthwise : bool
        Then there are as many inputs as channels.
    inputs, channels, side, kernel, stride : int
        Its shape; images and kernels are square.
    """
    rng = np.random.default_rng([channels, *wide])
    builder = ModelBuilder()
    inputs = channels if is_depthwise else inputs
    shape = (1, kernel, kernel, channels) if is_depthwise else (channels, kernel, kernel, inputs)
    scales = np.full(channels, 0.01)
    scales[list(wide)] = _WIDE_SCALE
    x = builder.tensor((1, side, side, inputs), scale=0.1, zero_point=-3)
    operands = [
        x,
        builder.tensor(
            shape,
            scale=scales.tolist(),
            zero_point=[0] * channels,
            axis=3 if is_depthwise else 0,
            data=rng.integers(-127, 128, shape).astype(np.int8),
        ),
        builder.tensor(
            (channels,),
            np.int32,
            scale=(scales * 0.1).tolist(),
            zero_point=[0] * channels,
            data=rng.integers(-500, 500, channels).astype(np.int32),
        ),
    ]
    size = -(-side // stride)
    y = builder.tensor((1, size, size, channels), scale=0.02)
    options = {"padding": 0, "strideH": stride, "strideW": stride}
    if is_depthwise:
        builder.operator("DEPTHWISE_CONV_2D", operands, [y], depthMultiplier=1, **options)
    else:
        builder.operator("CONV_2D", operands, [y], **options)
    values = rng.integers(-128, 128, (1, side, side, inputs), np.int8)
    return oracle.Case(builder.build([x], [y]), (values,))


def random_convolution(seed: int, *, is_depthwise: bool = False) -> oracle.Case:
    """Give a convolution of random shape, with a few wide channels anywhere."""
    generator = random.Random(seed)
    channels = 8 * generator.randint(2, 10)
    return convolution(
        sorted(generator.sample(range(channels), generator.randint(1, 3))),
        is_depthwise=is_depthwise,
        inputs=generator.randint(1, 16),
        channels=channels,
        side=generator.randint(5, 20),
        kernel=generator.choice([1, 1, 1, 2, 3]),
        stride=generator.choice([1, 1, 2]),
    )
