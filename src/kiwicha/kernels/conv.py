"""CONV_2D, TRANSPOSE_CONV, DEPTHWISE_CONV_2D and FULLY_CONNECTED, with weights as in TFLite.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/{conv,depthwise_conv,fully_connected,
transpose_conv}.h in tflite-micro.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.kernels.windows import elements_seen, padded, windows
from kiwicha.numerics import requantization as numerics

__all__ = [
    "KERNELS",
    "Conv",
    "conv_work",
    "convolved",
    "depthwise_convolved",
    "depthwise_work",
    "fully_connected",
    "output_count",
    "rows_and_columns_seen",
    "transposed_sums",
    "transposed_work",
    "window_size",
    "with_offset",
]


@dataclass(frozen=True)
class Conv(Struct):
    """CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED, with one scale per output channel.

    Portable kernels take weights as in TFLite: OHWI, ``[1, H, W, C]`` for depthwise. The order for
    instruction-tier kernels is defined in `kiwicha.kernels.weight_order`; there, bias,
    multiplier and shift are padded to a multiple of four channels. FULLY_CONNECTED has all sizes
    but batches and channels 1. SHORT kernels have input and output of int16, all offsets 0, and a
    bias of int32 or int64, which says how many bits their sums have.
    """

    input: Ref = ref("int8 [batches, input_height, input_width, input_channels]")
    weights: Ref = ref("int8")
    bias: Ref = ref("int32 [output_channels]")
    multiplier: Ref = ref("int32 [output_channels], 0 to 2**31 - 1")
    shift: Ref = ref("int32 [output_channels], -31 to 30")
    output: Ref = ref("int8 [batches, output_height, output_width, output_channels]")
    scratch: Ref = ref("working memory of the instruction-tier kernels")
    batches: int = u32("N")
    input_height: int = u32("rows")
    input_width: int = u32("columns")
    input_channels: int = u32("channels")
    output_height: int = u32("rows")
    output_width: int = u32("columns")
    output_channels: int = u32("channels")
    kernel_height: int = u32("rows of the kernel")
    kernel_width: int = u32("columns of the kernel")
    stride_height: int = u32("1 or more")
    stride_width: int = u32("1 or more")
    dilation_height: int = u32("1 or more")
    dilation_width: int = u32("1 or more")
    pad_top: int = u32("rows above the input")
    pad_left: int = u32("columns left of the input")
    depth_multiplier: int = u32("DEPTHWISE_CONV_2D: outputs per input channel; else 1")
    tile_pixels: int = u32(
        "instruction tier: output pixels per pass over the weights, multiple of 4"
    )
    input_offset: int = i32("minus the input's zero point, -127 to 128")
    weight_offset: int = i32("minus the weights' zero point, -127 to 128")
    output_offset: int = i32("the output's zero point")
    activation_min: int = i32("smallest output")
    activation_max: int = i32("largest output")


_MATRIX_BYTES = 32 << 20
"""Largest matrix of windows that a convolution builds at a time."""
_LARGEST_PRODUCT = 255 * 255
"""Of ``x + input_offset`` and a weight with its offset."""


def window_size(p: Conv) -> int:
    """Return the elements of a window, all input channels counted."""
    return p.kernel_height * p.kernel_width * p.input_channels


def with_offset(p: Conv, weights: NDArray[np.int8]) -> NDArray[np.int16]:
    """Return weights less their zero point."""
    return weights.astype(np.int16) + np.int16(p.weight_offset)


def _product(
    x: NDArray[Any], weights: NDArray[Any], largest_product: int = _LARGEST_PRODUCT
) -> NDArray[np.int64]:
    """Return the exact int64 product of two matrices of small integers.

    A floating-point sum of integers is exact in any order while no partial sum passes the
    significand: 24 bits in single precision, 53 bits in double. Both are matrix products that
    numpy hands to BLAS; integer ones are loops.
    """
    largest = weights.shape[0] * largest_product
    kind = np.float32 if largest < 2**24 else np.float64
    product: NDArray[np.int64] = (x.astype(kind) @ weights.astype(kind)).astype(np.int64)
    return product


def _image(memory: Memory, p: Conv) -> NDArray[np.int32]:
    """Return ``x + input_offset``."""
    shape = (p.batches, p.input_height, p.input_width, p.input_channels)
    return memory.load(p.input, np.int8, shape).astype(np.int32) + p.input_offset


def _dilation(p: Conv) -> tuple[int, int]:
    return p.dilation_height, p.dilation_width


def _padded_image(memory: Memory, p: Conv) -> NDArray[np.int32]:
    return padded(_image(memory, p), p, 0, _dilation(p))


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


def _weights(memory: Memory, p: Conv) -> NDArray[np.int16]:
    return with_offset(p, memory.load(p.weights, np.int8, (p.output_channels, window_size(p))))


def convolved(memory: Memory, p: Conv, weights: NDArray[np.int16]) -> NDArray[np.int8]:
    """Return the output of a convolution with weights [output_channels, window]."""
    taps = windows(_padded_image(memory, p), p, _dilation(p))
    output = np.empty((p.batches, p.output_height, p.output_width, p.output_channels), np.int8)
    row_bytes = p.batches * p.output_width * window_size(p) * 4
    rows = max(_MATRIX_BYTES // row_bytes, 1)
    for top in range(0, p.output_height, rows):
        part = taps[:, top : top + rows]
        sums = _product(part.reshape(-1, window_size(p)), weights.T)
        requantized = _requantized(memory, p, sums)
        output[:, top : top + rows] = requantized.reshape(*part.shape[:3], p.output_channels)
    return output


def _conv(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return convolved(memory, p, _weights(memory, p))


def transposed_sums(
    p: Conv,
    x: NDArray[np.int32],
    weights: NDArray[Any],
    largest_product: int = _LARGEST_PRODUCT,
) -> NDArray[np.int64]:
    """Return the sums of a transposed convolution.

    Parameters
    ----------
    p : Conv
        Its sizes.
    x : int32 [batches, input_height, input_width, input_channels]
        The input with its offset.
    weights : integers [output_channels, kernel_height, kernel_width, input_channels]
        Weights with their offset.
    largest_product : int
        Of an input and a weight.

    Returns
    -------
    ndarray of int64 [batches, output_height, output_width, output_channels]
        The sums.
    """
    rows = max((p.input_height - 1) * p.stride_height + p.kernel_height, p.pad_top)
    columns = max((p.input_width - 1) * p.stride_width + p.kernel_width, p.pad_left)
    # What lies beyond the last tap is there, too, and gets the bias alone.
    size = (rows + p.output_height, columns + p.output_width)
    sums = np.zeros((p.batches, *size, p.output_channels), np.int64)
    for row, column in np.ndindex(p.kernel_height, p.kernel_width):
        products = _product(
            x.reshape(-1, p.input_channels), weights[:, row, column].T, largest_product
        )
        sums[
            :,
            row : row + p.input_height * p.stride_height : p.stride_height,
            column : column + p.input_width * p.stride_width : p.stride_width,
        ] += products.reshape(*x.shape[:3], p.output_channels)
    top, left = p.pad_top, p.pad_left
    return sums[:, top : top + p.output_height, left : left + p.output_width]


def _transpose_conv(memory: Memory, p: Conv) -> NDArray[np.int8]:
    weights = _weights(memory, p).reshape(
        p.output_channels, p.kernel_height, p.kernel_width, p.input_channels
    )
    return _requantized(memory, p, transposed_sums(p, _image(memory, p), weights))


def fully_connected(memory: Memory, p: Conv, weights: NDArray[np.int16]) -> NDArray[np.int8]:
    """Return the output of a fully connected layer with weights [output_channels, inputs]."""
    x = memory.load(p.input, np.int8, (p.batches, p.input_channels)).astype(np.int32)
    return _requantized(memory, p, _product(x + p.input_offset, weights.T))


def _fully_connected(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return fully_connected(memory, p, _weights(memory, p))


def depthwise_convolved(memory: Memory, p: Conv, weights: NDArray[np.int16]) -> NDArray[np.int8]:
    """Return the output of a depthwise convolution with weights [height, width, channels]."""
    if p.output_channels != p.input_channels * p.depth_multiplier:
        raise ProgramError(f"output_channels must be input_channels * depth_multiplier, not {p}")
    taps = windows(np.repeat(_padded_image(memory, p), p.depth_multiplier, axis=3), p, _dilation(p))
    sums = np.zeros((p.batches, p.output_height, p.output_width, p.output_channels), np.int32)
    for row in range(p.kernel_height):
        for column in range(p.kernel_width):
            sums += taps[:, :, :, row, column] * weights[row, column].astype(np.int32)
    return _requantized(memory, p, sums)


def _depthwise_conv(memory: Memory, p: Conv) -> NDArray[np.int8]:
    shape = (p.kernel_height, p.kernel_width, p.output_channels)
    return depthwise_convolved(memory, p, with_offset(p, memory.load(p.weights, np.int8, shape)))


def output_count(p: Conv) -> int:
    """Return the elements of the output."""
    return p.batches * p.output_height * p.output_width * p.output_channels


def rows_and_columns_seen(p: Conv, *, is_transposed: bool = False) -> tuple[int, int]:
    """Return how many rows, and how many columns, of the input all windows see."""
    # Seen from its inputs a transposed convolution is one: each of them meets a window of outputs.
    way = -1 if is_transposed else 1
    heights = (p.output_height, p.input_height)[::way]
    widths = (p.output_width, p.input_width)[::way]
    rows = elements_seen(
        *heights,
        kernel=p.kernel_height,
        stride=p.stride_height,
        dilation=p.dilation_height,
        pad=p.pad_top,
    )
    columns = elements_seen(
        *widths,
        kernel=p.kernel_width,
        stride=p.stride_width,
        dilation=p.dilation_width,
        pad=p.pad_left,
    )
    return rows, columns


def _work_with(p: Conv, depth: int, *, is_transposed: bool = False) -> Work:
    rows, columns = rows_and_columns_seen(p, is_transposed=is_transposed)
    channels = p.batches * p.output_channels
    visited = channels * rows * p.output_width * p.kernel_width
    return Work(output_count(p), channels * rows * columns * depth, visited)


def conv_work(p: Conv) -> Work:
    """Return what a portable convolution does."""
    return _work_with(p, p.input_channels)


def transposed_work(p: Conv) -> Work:
    """Return what a portable transposed convolution does."""
    return _work_with(p, p.input_channels, is_transposed=True)


def depthwise_work(p: Conv) -> Work:
    """Return what a portable depthwise convolution does."""
    return _work_with(p, 1)


def _connected_work(p: Conv) -> Work:
    outputs = p.batches * p.output_channels
    return Work(outputs, outputs * p.input_channels, p.batches)


KERNELS = (
    Declaration(
        kernel=Kernel.CONV,
        params=Conv,
        reference=_conv,
        cost=Cost(step=1430.0, output=105.0, unit=16.1, extra=32.9),
        work=conv_work,
    ),
    Declaration(
        kernel=Kernel.TRANSPOSE_CONV,
        params=Conv,
        check="conv",
        reference=_transpose_conv,
        cost=Cost(step=0.0, output=141.0, unit=16.4, extra=91.5),
        work=transposed_work,
    ),
    Declaration(
        kernel=Kernel.DEPTHWISE_CONV,
        params=Conv,
        reference=_depthwise_conv,
        cost=Cost(step=1250.0, output=107.0, unit=43.4, extra=11.5),
        work=depthwise_work,
    ),
    Declaration(
        kernel=Kernel.FULLY_CONNECTED,
        params=Conv,
        reference=_fully_connected,
        cost=Cost(step=956.0, output=143.0, unit=16.1, extra=25.0),
        work=_connected_work,
    ),
)
