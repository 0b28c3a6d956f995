"""Every kernel of `Kernel` in numpy, bit for bit what the C kernels compute.

A kernel is a function of the memory and its parameters that returns the output tensor.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/{conv,depthwise_conv,fully_connected,
pooling}.h, reference/softmax.h in tflite-micro.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract import cfu as isa
from kiwicha.contract.program import Conv, Kernel, Pool, Softmax
from kiwicha.errors import ProgramError
from kiwicha.numerics import requantization as numerics
from kiwicha.program import kernel_weights as packing
from kiwicha.sim.reference.memory import Memory
from kiwicha.sim.reference.pairs import (
    add,
    maximum,
    mean,
    minimum,
    mul,
    prelu,
    reduce_max,
    sub,
)
from kiwicha.sim.reference.resize import resize_bilinear
from kiwicha.sim.reference.tables import arg_max, lookup, quantize

__all__ = ["IN_PLACE", "KERNELS", "KernelFunction"]

KernelFunction = Callable[[Memory, Any], NDArray[Any]]

_MATRIX_BYTES = 32 << 20
"""Largest matrix of windows that a convolution builds at a time."""
_LARGEST_PRODUCT = 255 * 255
"""Of ``x + input_offset`` and a weight with its offset."""


def _product(windows: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.int64]:
    """Return the exact int64 product of two matrices of small integers.

    A floating-point sum of integers is exact in any order while no partial sum passes the
    significand: 24 bits in single precision, 53 bits in double. Both are matrix products that
    numpy hands to BLAS; integer ones are loops.
    """
    largest = weights.shape[0] * _LARGEST_PRODUCT
    kind = np.float32 if largest < 2**24 else np.float64
    product: NDArray[np.int64] = (windows.astype(kind) @ weights.astype(kind)).astype(np.int64)
    return product


def _padded_input(memory: Memory, p: Conv) -> NDArray[np.int32]:
    """Return ``x + input_offset`` with zeros around it for every tap that lies outside."""
    shape = (p.batches, p.input_height, p.input_width, p.input_channels)
    x = memory.load(p.input, np.int8, shape).astype(np.int32) + p.input_offset
    return _pad_image(x, p, 0, p.dilation_height, p.dilation_width)


def _pad_image(
    x: NDArray[Any],
    p: Conv | Pool,
    value: int,
    dilation_height: int,
    dilation_width: int,
) -> NDArray[Any]:
    rows = (p.output_height - 1) * p.stride_height + (p.kernel_height - 1) * dilation_height + 1
    columns = (p.output_width - 1) * p.stride_width + (p.kernel_width - 1) * dilation_width + 1
    below = max(rows - p.pad_top - p.input_height, 0)
    right = max(columns - p.pad_left - p.input_width, 0)
    return np.pad(
        x, ((0, 0), (p.pad_top, below), (p.pad_left, right), (0, 0)), constant_values=value
    )


def _taps(x: NDArray[Any], p: Conv | Pool) -> NDArray[Any]:
    """Return a view [N, output_height, output_width, kernel_height, kernel_width, C] of ``x``."""
    dilation = (p.dilation_height, p.dilation_width) if isinstance(p, Conv) else (1, 1)
    batch, row, column, channel = x.strides
    return np.lib.stride_tricks.as_strided(
        x,
        (
            x.shape[0],
            p.output_height,
            p.output_width,
            p.kernel_height,
            p.kernel_width,
            x.shape[3],
        ),
        (
            batch,
            row * p.stride_height,
            column * p.stride_width,
            row * dilation[0],
            column * dilation[1],
            channel,
        ),
        writeable=False,
    )


def _requantized(memory: Memory, p: Conv, sums: NDArray[Any]) -> NDArray[np.int8]:
    channels = (p.output_channels,)
    if p.bias.bytes:
        sums = sums + memory.load(p.bias, np.int32, channels)
    return numerics.requantize(
        numerics.wrap_int32(sums),
        memory.load(p.multiplier, np.int32, channels),
        memory.load(p.shift, np.int32, channels),
        p.output_offset,
        p.activation_min,
        p.activation_max,
    ).astype(np.int8)


def _window_size(p: Conv) -> int:
    return p.kernel_height * p.kernel_width * p.input_channels


def _offset(p: Conv, weights: NDArray[np.int8]) -> NDArray[np.int16]:
    return weights.astype(np.int16) + np.int16(p.weight_offset)


def _packed_weights(memory: Memory, p: Conv) -> NDArray[np.int16]:
    """Return [output_channels, window] from the order of the instruction tier."""
    words = -(-_window_size(p) // packing.WORD_BYTES)
    size = packing.padded_channels(p.output_channels) * words * packing.WORD_BYTES
    packed = memory.load(p.weights, np.int8, (size,))
    return _offset(p, packing.unpack_conv(packed, p.output_channels, _window_size(p)))


def _plain_weights(memory: Memory, p: Conv) -> NDArray[np.int16]:
    return _offset(p, memory.load(p.weights, np.int8, (p.output_channels, _window_size(p))))


def _conv_with(memory: Memory, p: Conv, weights: NDArray[np.int16]) -> NDArray[np.int8]:
    taps = _taps(_padded_input(memory, p), p)
    output = np.empty((p.batches, p.output_height, p.output_width, p.output_channels), np.int8)
    row_bytes = p.batches * p.output_width * _window_size(p) * 4
    rows = max(_MATRIX_BYTES // row_bytes, 1)
    for top in range(0, p.output_height, rows):
        part = taps[:, top : top + rows]
        sums = _product(part.reshape(-1, _window_size(p)), weights.T)
        requantized = _requantized(memory, p, sums)
        output[:, top : top + rows] = requantized.reshape(*part.shape[:3], p.output_channels)
    return output


def _conv(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return _conv_with(memory, p, _plain_weights(memory, p))


def _simd_conv(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return _conv_with(memory, p, _packed_weights(memory, p))


def _simd_conv_1x1(memory: Memory, p: Conv) -> NDArray[np.int8]:
    if (p.kernel_height, p.kernel_width, p.pad_top, p.pad_left) != (1, 1, 0, 0):
        raise ProgramError(f"kernel must be 1x1 without padding, not {p}")
    return _simd_conv(memory, p)


def _transpose_conv(memory: Memory, p: Conv) -> NDArray[np.int8]:
    shape = (p.batches, p.input_height, p.input_width, p.input_channels)
    x = memory.load(p.input, np.int8, shape).astype(np.int32) + p.input_offset
    weights = _plain_weights(memory, p).reshape(
        p.output_channels, p.kernel_height, p.kernel_width, p.input_channels
    )
    rows = max((p.input_height - 1) * p.stride_height + p.kernel_height, p.pad_top)
    columns = max((p.input_width - 1) * p.stride_width + p.kernel_width, p.pad_left)
    # What lies beyond the last tap is there, too, and gets the bias alone.
    size = (rows + p.output_height, columns + p.output_width)
    sums = np.zeros((p.batches, *size, p.output_channels), np.int64)
    for row, column in np.ndindex(p.kernel_height, p.kernel_width):
        products = _product(x.reshape(-1, p.input_channels), weights[:, row, column].T)
        sums[
            :,
            row : row + p.input_height * p.stride_height : p.stride_height,
            column : column + p.input_width * p.stride_width : p.stride_width,
        ] += products.reshape(*shape[:3], p.output_channels)
    top, left = p.pad_top, p.pad_left
    seen = sums[:, top : top + p.output_height, left : left + p.output_width]
    return _requantized(memory, p, seen)


def _fully_connected_with(memory: Memory, p: Conv, weights: NDArray[np.int16]) -> NDArray[np.int8]:
    x = memory.load(p.input, np.int8, (p.batches, p.input_channels)).astype(np.int32)
    return _requantized(memory, p, _product(x + p.input_offset, weights.T))


def _fully_connected(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return _fully_connected_with(memory, p, _plain_weights(memory, p))


def _simd_fully_connected(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return _fully_connected_with(memory, p, _packed_weights(memory, p))


def _depthwise_with(memory: Memory, p: Conv, weights: NDArray[np.int16]) -> NDArray[np.int8]:
    if p.output_channels != p.input_channels * p.depth_multiplier:
        raise ProgramError(f"output_channels must be input_channels * depth_multiplier, not {p}")
    x = np.repeat(_padded_input(memory, p), p.depth_multiplier, axis=3)
    taps = _taps(x, p)
    sums = np.zeros((p.batches, p.output_height, p.output_width, p.output_channels), np.int32)
    for row in range(p.kernel_height):
        for column in range(p.kernel_width):
            sums += taps[:, :, :, row, column] * weights[row, column].astype(np.int32)
    return _requantized(memory, p, sums)


def _depthwise_conv(memory: Memory, p: Conv) -> NDArray[np.int8]:
    shape = (p.kernel_height, p.kernel_width, p.output_channels)
    return _depthwise_with(memory, p, _offset(p, memory.load(p.weights, np.int8, shape)))


def _simd_depthwise_conv(memory: Memory, p: Conv) -> NDArray[np.int8]:
    if p.output_channels % isa.LANES:
        raise ProgramError(f"output_channels must be a multiple of {isa.LANES}, not {p}")
    size = p.kernel_height * p.kernel_width * p.output_channels
    packed = memory.load(p.weights, np.int8, (size,))
    weights = packing.unpack_depthwise(packed, p.kernel_height, p.kernel_width, p.output_channels)
    return _depthwise_with(memory, p, _offset(p, weights[0]))


def _pool_input(memory: Memory, p: Pool) -> NDArray[np.int8]:
    shape = (p.batches, p.input_height, p.input_width, p.channels)
    return memory.load(p.input, np.int8, shape)


def _average_pool(memory: Memory, p: Pool) -> NDArray[np.int8]:
    x = _pool_input(memory, p)
    inside = np.ones((1, p.input_height, p.input_width, 1), np.int32)
    counts = _taps(_pad_image(inside, p, 0, 1, 1), p).sum(axis=(3, 4), dtype=np.int64)
    if not counts.all():
        raise ProgramError(f"every window must hold an input element ({p})")
    padded = _pad_image(x.astype(np.int32) + p.offset, p, 0, 1, 1)
    sums = _taps(padded, p).sum(axis=(3, 4), dtype=np.int64)
    # Half away from zero: C's division truncates.
    means = np.sign(sums) * ((np.abs(sums) + counts // 2) // counts)
    return _clamped(means - p.offset, p)


def _max_pool(memory: Memory, p: Pool) -> NDArray[np.int8]:
    taps = _taps(_pad_image(_pool_input(memory, p), p, -128, 1, 1), p)
    return _clamped(taps.max(axis=(3, 4)), p)


def _clamped(values: NDArray[Any], p: Pool) -> NDArray[np.int8]:
    clamped: NDArray[np.int8] = values.clip(p.activation_min, p.activation_max).astype(np.int8)
    return clamped


_ACCUMULATOR_BITS = 12
"""Integer bits of a sum of exponentials."""


def _softmax(memory: Memory, p: Softmax) -> NDArray[np.int8]:
    x = memory.load(p.input, np.int8, (p.rows, p.depth)).astype(np.int64)
    table = memory.load(p.exponentials, np.int32, (256,)).astype(np.int64)
    exponentials = table[x.max(axis=1, keepdims=True) - x]
    terms = numerics.rounding_divide_by_pot(exponentials, _ACCUMULATOR_BITS)
    output = np.empty(x.shape, np.int64)
    for row, total in enumerate(terms.sum(axis=1)):
        output[row] = _softmax_row(exponentials[row], int(total))
    return (output + p.output_offset).astype(np.uint8).view(np.int8)


def _softmax_row(exponentials: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Return probabilities times 256, 0 to 255."""
    # From a sum of 512 on, outputs are at most half a step, and the shift would pass 31 bits.
    if total >= 512 << (31 - _ACCUMULATOR_BITS):
        return np.zeros(len(exponentials), np.int64)
    scale, bits_over_unit = numerics.softmax_reciprocal(total)
    product = numerics.saturating_rounding_doubling_high_mul(scale, exponentials)
    scaled = numerics.rounding_divide_by_pot(product, bits_over_unit + 31 - 8)
    return np.clip(scaled, 0, 255)


KERNELS: dict[Kernel, KernelFunction] = {
    Kernel.CONV: _conv,
    Kernel.DEPTHWISE_CONV: _depthwise_conv,
    Kernel.FULLY_CONNECTED: _fully_connected,
    Kernel.AVERAGE_POOL: _average_pool,
    Kernel.MAX_POOL: _max_pool,
    Kernel.ADD: add,
    Kernel.SUB: sub,
    Kernel.MUL: mul,
    Kernel.MEAN: mean,
    Kernel.SOFTMAX: _softmax,
    Kernel.RESIZE_BILINEAR: resize_bilinear,
    Kernel.TRANSPOSE_CONV: _transpose_conv,
    Kernel.LOOKUP: lookup,
    Kernel.QUANTIZE: quantize,
    Kernel.MINIMUM: minimum,
    Kernel.MAXIMUM: maximum,
    Kernel.PRELU: prelu,
    Kernel.REDUCE_MAX: reduce_max,
    Kernel.ARG_MAX: arg_max,
    Kernel.SIMD_CONV_1X1: _simd_conv_1x1,
    Kernel.SIMD_CONV: _simd_conv,
    Kernel.SIMD_DEPTHWISE_CONV: _simd_depthwise_conv,
    Kernel.SIMD_FULLY_CONNECTED: _simd_fully_connected,
    Kernel.SIMD_ADD: add,
    Kernel.SIMD_MAX_POOL: _max_pool,
}
IN_PLACE = frozenset({
    Kernel.ADD,
    Kernel.SUB,
    Kernel.MUL,
    Kernel.LOOKUP,
    Kernel.MINIMUM,
    Kernel.MAXIMUM,
    Kernel.PRELU,
    Kernel.SIMD_ADD,
})
"""Kernels whose output may be the memory of an input: element n depends on elements n alone."""
