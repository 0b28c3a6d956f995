"""CONV_2D with custom instructions: any kernel, stride, dilation, padding and channels."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.cfu import PIXELS
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv, convolved, window_size
from kiwicha.kernels.kernel import Call, Cost, Declaration, Memory, Work
from kiwicha.kernels.simd_matrix import (
    CACHED_BYTES,
    MAX_WINDOW_PIXELS,
    is_aligned,
    is_pointwise,
    packed,
    packed_weights,
    padded_macs,
    padded_window,
    whole_pixels,
)

__all__ = ["KERNELS"]

_COPIED_BYTES = 3072
"""Copied windows and weights of one pass; the kernel also reads the input meanwhile."""


def _reference(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return convolved(memory, p, packed_weights(memory, p))


def _condition(call: Call) -> bool:
    p: Conv = call.params
    if call.kernel is Kernel.DEPTHWISE_CONV:
        # With one input channel every output channel sees the same window: a convolution.
        return p.input_channels == 1
    is_matrix = call.kernel is Kernel.FULLY_CONNECTED or is_pointwise(p)
    return not (is_matrix and is_aligned(p))


def _prepare(call: Call) -> Call:
    if call.kernel is Kernel.DEPTHWISE_CONV:
        weights = np.ascontiguousarray(call.constants["weights"].transpose(3, 1, 2, 0))
        call = dataclasses.replace(
            call,
            params=dataclasses.replace(call.params, depth_multiplier=1),
            constants={**call.constants, "weights": weights},
        )
    pixels = _pixels(call.params)
    return dataclasses.replace(
        packed(call, pixels), scratch_bytes=pixels * padded_window(call.params)
    )


def _is_in_place(p: Conv) -> bool:
    """Whether windows are read where they are; else they are copied."""
    return is_aligned(p) and p.dilation_width == 1


def _pixels(p: Conv) -> int:
    """Return the pixels of which a pass over all weights keeps the windows in the cache."""
    weight_bytes = PIXELS * window_size(p)
    if not _is_in_place(p):
        fitting = (_COPIED_BYTES - weight_bytes) // padded_window(p)
        return max(PIXELS, min(whole_pixels(fitting), MAX_WINDOW_PIXELS))
    return max(
        (
            pixels
            for pixels in range(PIXELS, MAX_WINDOW_PIXELS + 1, PIXELS)
            if _input_bytes(p, pixels) + weight_bytes <= CACHED_BYTES
        ),
        default=PIXELS,
    )


def _input_bytes(p: Conv, pixels: int) -> int:
    """Return the input bytes that the windows of ``pixels`` neighbouring outputs touch."""
    if pixels <= p.output_width:
        columns = pixels * p.stride_width + p.kernel_width
        return p.kernel_height * columns * p.input_channels
    rows = math.ceil(pixels / p.output_width) * p.stride_height + p.kernel_height
    return rows * p.input_width * p.input_channels


def _work(p: Conv) -> Work:
    outputs, pixels, macs = padded_macs(p)
    return Work(outputs, pixels * macs, 0 if _is_in_place(p) else pixels * padded_window(p))


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_CONV,
        params=Conv,
        reference=_reference,
        cost=Cost(step=5760.0, output=5.84, unit=2.17, extra=28.2),
        work=_work,
        replaces=(Kernel.CONV, Kernel.DEPTHWISE_CONV, Kernel.FULLY_CONNECTED),
        condition=_condition,
        prepare=_prepare,
    ),
)
