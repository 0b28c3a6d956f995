"""The weight stream of an operation's jobs, raw, and its size."""

import dataclasses
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.element_operations import ElementOperation, TableOperation
from kiwicha.compiler.engine.ir.fused_operations import SumTables
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.softmax_operation import SoftmaxOperation
from kiwicha.compiler.engine.ir.window import gathered_words, padded, segment_shape
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    MaxPooling,
)
from kiwicha.contract.depthwise import UNIT_CHANNELS
from kiwicha.contract.engine import (
    GROUP_PARAMETER_BYTES,
    INPUT_LANES,
    TABLE_ENTRIES,
    TABLE_ENTRY_BYTES,
    has_gathered,
    input_lanes_of,
    outputs_of,
)
from kiwicha.numerics.requantization import wrap_int32
from kiwicha.program.weight_streams import (
    Parameters,
    bytes_of_word,
    channels_per_group,
    pack_conv_words,
    pack_depthwise_words,
    pack_groups,
    pack_tables,
    pack_unit_words,
)

__all__ = [
    "group_channels",
    "group_count",
    "group_words",
    "is_gathered",
    "stream_bytes",
    "stream_parameters",
    "unit_stream",
    "weight_stream",
]


def group_channels(operation: JobOperation, macs: int) -> int:
    """Return the output channels of a group: those that the array computes side by side."""
    if isinstance(operation, ElementOperation):
        return outputs_of(macs)
    return channels_per_group(macs, operation.kind, operation.flags)


def group_count(operation: JobOperation, macs: int) -> int:
    """Return the groups of an operation's jobs."""
    if operation.is_flat or isinstance(operation, SoftmaxOperation):
        return 1
    channels = operation.output_channels
    if isinstance(operation, ElementOperation):
        channels = padded(channels)
    return -(-channels // group_channels(operation, macs))


def is_gathered(operation: JobOperation, macs: int, input_pitch: int) -> bool:
    """Return whether an operation's jobs have `JobFlag.GATHERED`: where they take fewer words."""
    if not has_gathered(macs) or not isinstance(operation, Convolution):
        return False
    window = operation.window
    gathered = gathered_words(window, input_pitch)
    if gathered is None:
        return False
    # Gathered or packed, kernel rows outside the input take their words as well.
    rows = window.output_rows * window.kernel_rows
    rows_visited = rows if operation.is_packed else window.kernel_rows_inside
    segments, words = segment_shape(window, input_pitch)
    return window.output_rows * gathered < rows_visited * segments * words


@singledispatch
def group_words(operation: JobOperation, macs: int, input_pitch: int) -> int:
    """Return the weight words of a group, given the bytes of an input pixel.

    Tables count as if they were weights: the size of a stream follows from the same fields.
    """
    raise TypeError(operation)


@group_words.register
def _(operation: Convolution, macs: int, input_pitch: int) -> int:
    if is_gathered(operation, macs, input_pitch):
        return gathered_words(operation.window, input_pitch) or 0
    lanes = input_lanes_of(macs, operation.flags)
    segments, words = segment_shape(operation.window, input_pitch, lanes)
    return operation.window.kernel_rows * segments * words


@group_words.register
def _(operation: DepthwiseConvolution, macs: int, input_pitch: int) -> int:
    window = operation.window
    return 1 if operation.has_one_word else window.stride_columns * window.kernel_rows


@group_words.register(MaxPooling)
@group_words.register(ElementOperation)
def _(operation: JobOperation, macs: int, input_pitch: int) -> int:
    return 1


@group_words.register(SumTables)
@group_words.register(SoftmaxOperation)
@group_words.register(TableOperation)
def _(operation: TableOperation | SoftmaxOperation | SumTables, macs: int, input_pitch: int) -> int:
    return TABLE_ENTRIES * TABLE_ENTRY_BYTES // (INPUT_LANES * outputs_of(macs))


def stream_bytes(operation: JobOperation, macs: int, input_pitch: int) -> int:
    """Return the size of an operation's weight stream."""
    words = group_words(operation, macs, input_pitch)
    group = group_channels(operation, macs) * GROUP_PARAMETER_BYTES
    group += words * bytes_of_word(macs, operation.flags)
    return group_count(operation, macs) * group


@singledispatch
def weight_stream(operation: JobOperation, macs: int, input_pitch: int) -> bytes:
    """Return the weight stream of an operation's jobs, raw, given the bytes of an input pixel."""
    raise TypeError(operation)


@weight_stream.register
def _(operation: Convolution, macs: int, input_pitch: int) -> bytes:
    lanes = input_lanes_of(macs, operation.flags)
    if is_gathered(operation, macs, input_pitch):
        weights = _gathered_weights(operation, input_pitch)
    else:
        weights = _read_weights(operation, input_pitch, lanes)
    words = pack_conv_words(weights, macs, is_packed=operation.is_packed)
    stored = (words + np.int16(operation.weight_zero_point)).astype(np.int8)
    return pack_groups(stream_parameters(operation), stored, group_channels(operation, macs))


@weight_stream.register
def _(operation: DepthwiseConvolution, macs: int, input_pitch: int) -> bytes:
    channels = group_channels(operation, macs)
    stride = operation.window.stride_columns
    words = pack_depthwise_words(operation.weights, macs, channels, stride)
    if operation.has_one_word:
        words = words[:, :1]
    stored = (words + np.int16(operation.weight_zero_point)).astype(np.int8)
    return pack_groups(operation.parameters, stored, channels)


@weight_stream.register
def _(operation: MaxPooling, macs: int, input_pitch: int) -> bytes:
    shape = (group_count(operation, macs), 1, bytes_of_word(macs, operation.flags))
    channels = group_channels(operation, macs)
    return pack_groups(operation.parameters, np.zeros(shape, np.int8), channels)


@weight_stream.register
def _(operation: ElementOperation, macs: int, input_pitch: int) -> bytes:
    outputs = outputs_of(macs)
    groups = group_count(operation, macs)
    p = operation.parameters
    fields = (p.bias, p.multiplier, p.shift)
    # One number is for all channels; channels behind the last one are as good as any.
    parameters = Parameters(*(np.resize(values, groups * outputs) for values in fields))
    if isinstance(operation, TableOperation):
        return pack_tables(operation.tables, parameters, macs)
    words = np.zeros((groups, 1, bytes_of_word(macs, operation.flags)), np.int8)
    return pack_groups(parameters, words, outputs)


@weight_stream.register
def _(operation: SumTables, macs: int, input_pitch: int) -> bytes:
    nothing = np.zeros(outputs_of(macs), np.int32)
    return pack_tables(operation.tables, Parameters(nothing, nothing, nothing), macs)


@weight_stream.register
def _(operation: SoftmaxOperation, macs: int, input_pitch: int) -> bytes:
    exponentials, distances = operation.exponentials, operation.distances
    p = operation.parameters
    parameters = Parameters(
        *(np.resize(values, outputs_of(macs)) for values in (p.bias, p.multiplier, p.shift))
    )
    second = np.zeros_like(exponentials) if distances is None else distances
    tables = np.stack([exponentials, second], axis=1)
    return pack_tables(tables, parameters, macs)


def unit_stream(operation: DepthwiseConvolution) -> bytes:
    """Return the weight stream of an operation's jobs on the depthwise unit, raw."""
    words = pack_unit_words(operation.weights) + np.int16(operation.weight_zero_point)
    return pack_groups(operation.parameters, words.astype(np.int8), UNIT_CHANNELS)


def _read_weights(operation: Convolution, pitch: int, lanes: int) -> NDArray[np.int16]:
    """Return int16 [outputs, words, lanes]: the weight of every byte that a pixel reads."""
    outputs, rows, columns, channels = operation.weights.shape
    segments, words = segment_shape(operation.window, pitch, lanes)
    if segments == 1 and pitch <= padded(channels):
        read = _pixel_weights(operation, pitch).reshape(outputs, rows, columns * pitch)
    else:
        read = operation.weights.reshape(outputs, rows * columns, channels)
    whole = np.zeros((*read.shape[:2], words * lanes), np.int16)
    whole[..., : read.shape[2]] = read
    return whole.reshape(outputs, -1, lanes)


def _gathered_weights(operation: Convolution, pitch: int) -> NDArray[np.int16]:
    """Return the same where the segments of a window follow each other without gaps."""
    read = _pixel_weights(operation, pitch).reshape(len(operation.weights), -1)
    whole = np.pad(read, ((0, 0), (0, -read.shape[1] % INPUT_LANES)))
    return whole.reshape(len(whole), -1, INPUT_LANES)


def _pixel_weights(operation: Convolution, pitch: int) -> NDArray[np.int16]:
    """Return the weights of whole pixels, [outputs, rows, columns, pitch]."""
    *shape, channels = operation.weights.shape
    pixels = np.zeros((*shape, pitch), np.int16)
    pixels[..., :channels] = operation.weights
    return pixels


def stream_parameters(operation: Convolution) -> Parameters:
    """Return the parameters in the weight stream of a convolution.

    Packed products are those of whole inputs, and the zero point outside the image is an input
    too: what the zero point adds to each sum is the same everywhere, and leaves with the bias.
    """
    parameters = operation.parameters
    if not operation.is_packed:
        return parameters
    sums = operation.weights.astype(np.int64).sum(axis=(1, 2, 3))
    bias = wrap_int32(parameters.bias - operation.input_zero_point * sums).astype(np.int32)
    return dataclasses.replace(parameters, bias=bias)
