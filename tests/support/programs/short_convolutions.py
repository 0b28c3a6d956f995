"""Steps of convolutions on int16, whose sums have 64 or 32 bits."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from tests.support.programs.images import random_input, random_output
from tests.support.programs.steps import ProgramBuilder, int8s, random_scales

__all__ = ["add_shape", "add_short_convolution"]


def add_short_convolution(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int
) -> None:
    """Add a step, with sums of 64 bits if the number is even, and one pixel in each fourth."""
    inputs, outputs = (int(n) for n in rng.integers(1, 25, 2))
    if kernel is Kernel.SHORT_DEPTHWISE_CONV:
        outputs = inputs * int(rng.integers(1, 3))
    if number % 4 == 1 and kernel is Kernel.SHORT_CONV:
        # One row has more products than an int32 is sure to hold.
        add_shape(builder, kernel, rng, 1, 1, 600 + inputs, outputs, is_long=False)
        return
    batches, height, width = (int(n) for n in rng.integers(1, 6, 3))
    taps, stride = (int(n) for n in rng.integers(1, 4, 2))
    sizes = (height, width, inputs, outputs, taps, stride)
    is_long = number % 2 == 0 or kernel is not Kernel.SHORT_CONV
    add_shape(builder, kernel, rng, *sizes, batches=min(batches, 2), is_long=is_long)


def add_shape(
    builder: ProgramBuilder,
    kernel: Kernel,
    rng: np.random.Generator,
    height: int,
    width: int,
    inputs: int,
    outputs: int,
    taps: int = 1,
    stride: int = 1,
    *,
    batches: int = 1,
    is_long: bool = True,
) -> None:
    """Add a step with a kernel of as many rows as columns, of random numbers."""
    is_depthwise, is_transposed = (
        kernel is item for item in (Kernel.SHORT_DEPTHWISE_CONV, Kernel.SHORT_TRANSPOSE_CONV)
    )
    out = [stride * size if is_transposed else -(-size // stride) for size in (height, width)]
    largest = taps * taps * (1 if is_depthwise else inputs) << 22
    multipliers, shifts = random_scales(rng, outputs, largest >> 8)
    kind = np.int64 if is_long else np.int32
    most = min(largest, np.iinfo(kind).max)
    shape = (1, taps, taps, outputs) if is_depthwise else (outputs, taps, taps, inputs)
    params = Conv(
        input=random_input(builder, kernel, rng, (batches, height, width, inputs)),
        weights=builder.constant(int8s(rng, shape), np.int8),
        bias=builder.constant(rng.integers(-most, most, outputs), kind),
        multiplier=builder.constant(multipliers),
        shift=builder.constant(np.minimum(shifts, 7)),
        output=random_output(builder, kernel, (batches, *out, outputs)),
        scratch=builder.arena(0),
        batches=batches,
        input_height=height,
        input_width=width,
        input_channels=inputs,
        output_height=out[0],
        output_width=out[1],
        output_channels=outputs,
        **dict.fromkeys(("kernel_height", "kernel_width"), taps),
        **dict.fromkeys(("stride_height", "stride_width"), stride),
        **dict.fromkeys(("dilation_height", "dilation_width"), 1),
        **dict.fromkeys(("pad_top", "pad_left"), (taps - 1) // 2),
        depth_multiplier=outputs // inputs if is_depthwise else 1,
        tile_pixels=4,
        **dict.fromkeys(("input_offset", "weight_offset", "output_offset"), 0),
        activation_min=int(rng.choice([-32768, 0])),
        activation_max=int(rng.choice([32767, 9000])),
    )
    builder.step(kernel, params)
