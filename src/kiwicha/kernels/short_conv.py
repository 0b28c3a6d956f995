"""CONV_2D, FULLY_CONNECTED, DEPTHWISE_CONV_2D and TRANSPOSE_CONV of int16, weights of int8.

Sums have 64 bits if the bias has, else 32 bits.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/{conv,depthwise_conv,fully_connected,
transpose_conv}.h in tflite-micro.
"""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.conv import (
    Conv,
    conv_work,
    depthwise_work,
    transposed_sums,
    transposed_work,
)
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.kernels.windows import padded, windows
from kiwicha.numerics.long_sums import rescale_long
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier, wrap_int32

__all__ = ["KERNELS", "has_long_biases", "has_long_sums"]

_LARGEST_PRODUCT = 2**22
"""Of an input and a weight."""


def has_long_sums(p: Conv) -> bool:
    """Whether sums have 64 bits."""
    return p.bias.bytes == p.output_channels * np.dtype(np.int64).itemsize


def has_long_biases(bias: NDArray[Any]) -> bool:
    """Whether the sums of a layer with these biases have 64 bits."""
    return bias.dtype.itemsize == np.dtype(np.int64).itemsize


def _image(memory: Memory, p: Conv) -> NDArray[np.int32]:
    shape = (p.batches, p.input_height, p.input_width, p.input_channels)
    return memory.load(p.input, np.int16, shape).astype(np.int32)


def _rescaled(memory: Memory, p: Conv, sums: NDArray[np.int64]) -> NDArray[np.int16]:
    channels, is_long = (p.output_channels,), has_long_sums(p)
    total = sums + memory.load(p.bias, np.int64 if is_long else np.int32, channels)
    scale = (memory.load(name, np.int32, channels) for name in (p.multiplier, p.shift))
    if is_long:
        results = rescale_long(total, *scale)
    else:
        results = multiply_by_quantized_multiplier(wrap_int32(total), *scale)
    return results.clip(p.activation_min, p.activation_max).astype(np.int16)


def _seen(memory: Memory, p: Conv) -> NDArray[Any]:
    """Return what all windows see, [N, output_height, output_width, *kernel, C]."""
    dilation = (p.dilation_height, p.dilation_width)
    return windows(padded(_image(memory, p), p, 0, dilation), p, dilation)


def _conv(memory: Memory, p: Conv) -> NDArray[np.int16]:
    shape = (p.output_channels, p.kernel_height, p.kernel_width, p.input_channels)
    weights = memory.load(p.weights, np.int8, shape).astype(np.float64)
    taps = _seen(memory, p)
    sums = np.zeros((*taps.shape[:3], p.output_channels), np.int64)
    for row, column in np.ndindex(p.kernel_height, p.kernel_width):
        # Exact in double precision: all numbers are integers, and no sum needs 53 bits.
        products = taps[:, :, :, row, column].astype(np.float64) @ weights[:, row, column].T
        sums += products.astype(np.int64)
    return _rescaled(memory, p, sums)


def _depthwise_conv(memory: Memory, p: Conv) -> NDArray[np.int16]:
    if p.output_channels != p.input_channels * p.depth_multiplier:
        raise ProgramError(f"output_channels must be input_channels * depth_multiplier, not {p}")
    shape = (p.kernel_height, p.kernel_width, p.output_channels)
    weights = memory.load(p.weights, np.int8, shape).astype(np.int64)
    taps = _seen(memory, p)
    sums = np.zeros((*taps.shape[:3], p.output_channels), np.int64)
    for row, column in np.ndindex(p.kernel_height, p.kernel_width):
        seen = np.repeat(taps[:, :, :, row, column], p.depth_multiplier, axis=3)
        sums += seen * weights[row, column]
    return _rescaled(memory, p, sums)


def _transpose_conv(memory: Memory, p: Conv) -> NDArray[np.int16]:
    shape = (p.output_channels, p.kernel_height, p.kernel_width, p.input_channels)
    weights = memory.load(p.weights, np.int8, shape)
    sums = transposed_sums(p, _image(memory, p), weights, _LARGEST_PRODUCT)
    return _rescaled(memory, p, sums)


def _conv_work(p: Conv) -> Work:
    """Return what a convolution does: rows of a kernel whose taps are neighbours are one visit."""
    work = conv_work(p)
    visited = work.extra // (p.kernel_width if p.dilation_width == 1 else 1)
    return dataclasses.replace(work, extra=visited)


KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_CONV,
        params=Conv,
        reference=_conv,
        is_on_demand=True,
        cost=Cost(step=1380.0, output=188.0, unit=6.67, extra=99.6),
        work=_conv_work,
    ),
    Declaration(
        kernel=Kernel.SHORT_DEPTHWISE_CONV,
        params=Conv,
        reference=_depthwise_conv,
        is_on_demand=True,
        cost=Cost(step=744.0, output=163.0, unit=27.5, extra=11.0),
        work=depthwise_work,
    ),
    Declaration(
        kernel=Kernel.SHORT_TRANSPOSE_CONV,
        params=Conv,
        check="short_conv",
        reference=_transpose_conv,
        is_on_demand=True,
        cost=Cost(step=2580.0, output=228.0, unit=8.26, extra=125.0),
        work=transposed_work,
    ),
)
