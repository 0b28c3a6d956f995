"""Convolutions with padding, and fully connected layers."""

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.conv import Conv
from tests.support.programs.images import SHORT_KERNELS
from tests.support.programs.short_convolutions import add_short_convolution
from tests.support.programs.steps import ConvCase, ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = Conv
_CONNECTED = {Kernel.FULLY_CONNECTED, Kernel.SIMD_FULLY_CONNECTED}
_POINTWISE = {*_CONNECTED, Kernel.SIMD_CONV_1X1}
_DEPTHWISE = {Kernel.DEPTHWISE_CONV, Kernel.SIMD_DEPTHWISE_CONV}


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, SIMD_CONV with channels in fours if the number is even."""
    if kernel in SHORT_KERNELS:
        add_short_convolution(builder, kernel, rng, number)
        return
    is_depthwise, is_transposed = kernel in _DEPTHWISE, kernel is Kernel.TRANSPOSE_CONV
    is_whole = kernel not in _POINTWISE
    is_simd = kernel.where is Where.SIMD
    inputs, outputs = (4 * int(n) for n in rng.integers(1, 5 if is_simd else 3, 2))
    if kernel is Kernel.SIMD_CONV and number % 2:
        inputs = int(rng.integers(1, 4))
    outputs = inputs if is_depthwise else outputs
    taps = int(rng.choice((2, 3, 5) if is_simd or is_depthwise else (1, 2, 3))) if is_whole else 1
    stride = int(rng.integers(1, 3)) if is_whole else 1
    height, width = (int(n) for n in rng.integers(3, 11 if is_simd else 5, 2))
    if kernel in _CONNECTED:
        height = width = 1
        inputs, outputs = 4 * inputs, 2 * outputs
    factor = stride if is_transposed else 1
    out = [factor * size if is_transposed else -(-size // stride) for size in (height, width)]
    p: dict[str, int] = {
        "batches": int(rng.choice((1, 1, 4))) if kernel in _CONNECTED else 1,
        **{"input_height": height, "input_width": width, "input_channels": inputs},
        **{"output_height": out[0], "output_width": out[1], "output_channels": outputs},
        **dict.fromkeys(("kernel_height", "kernel_width"), taps),
        **dict.fromkeys(("stride_height", "stride_width"), stride),
        **dict.fromkeys(("dilation_height", "dilation_width", "depth_multiplier"), 1),
        **dict.fromkeys(("pad_top", "pad_left"), (taps - 1) // 2),
        **{"tile_pixels": 16, "input_offset": 5, "weight_offset": 0, "output_offset": -7},
        **{"activation_min": -128, "activation_max": 127},
    }
    image = int8s(rng, (p["batches"], height, width, inputs))
    shape = (1, taps, taps, outputs) if is_depthwise else (outputs, taps, taps, inputs)
    ones = np.ones(outputs, np.int64)
    case = ConvCase(
        params=Conv(*[Ref()] * 7, **p),
        is_depthwise=is_depthwise,
        input=image,
        weights=int8s(rng, shape),
        bias=rng.integers(-999, 999, outputs),
        multiplier=ones * 2**30,
        shift=ones * -6,
    )
    case.add_to(builder, kernel, builder.input(image))
