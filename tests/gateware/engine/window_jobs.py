"""Engine jobs for the benches: from a layer's shape and weights to descriptor and weight stream."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    CARRIED_LANES,
    INPUT_LANES,
    EngineJob,
    JobFlag,
    JobKind,
    input_lanes_of,
    last_unit_of,
    outputs_of,
)
from kiwicha.numerics import requantization as numerics
from kiwicha.program.weight_streams import channels_per_group
from tests.support.gateware.engine_fields import pack

__all__ = ["Fill", "Layer", "expected_output", "fills", "job_of", "layer_sums", "parameter_beats"]

Ints = NDArray[np.int64]
_LANES = INPUT_LANES
_PARAMETER_BLOCK = 4


@dataclass(frozen=True)
class Fill:
    """One group's part of the weight stream: a command of the weight buffer and its beats."""

    blocks: int
    words: int
    is_table: bool
    beats: list[int]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A convolution, or a depthwise one, on tensors in the scratchpad.

    ``weights`` are [outputs, rows, columns, inputs], for depthwise [1, rows, columns, channels];
    int64. ``parameters`` are bias, multiplier and shift of each output, [3, outputs]. Tensors have
    a pitch per pixel; behind each row of the output ``output_gap`` bytes are left as they are.
    """

    macs: int
    is_depthwise: bool
    rows: int
    columns: int
    input_pitch: int
    output_pitch: int
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pads: tuple[int, int]
    output_rows: int
    output_columns: int
    weights: Ints
    parameters: Ints
    input_zero_point: int
    weight_zero_point: int
    is_unsigned: bool
    output_zero_point: int
    clamp: tuple[int, int]
    is_wide: bool
    has_8_taps: bool = False
    is_ones: bool = False
    is_packed: bool = False
    is_gathered: bool = False
    output_gap: int = 0

    @property
    def products_of_zero(self) -> Ints:
        """What an input of nothing but the zero point adds to the sums of packed products."""
        weights = self.weights - self.weight_zero_point
        products: Ints = self.input_zero_point * weights.sum(axis=(1, 2, 3))
        return products

    @property
    def outputs(self) -> int:
        """Chain pairs of the array."""
        return outputs_of(self.macs)

    @property
    def channels(self) -> int:
        """Output channels."""
        return int(self.parameters.shape[1])

    @property
    def group_channels(self) -> int:
        """Channels of a group."""
        kind = JobKind.DEPTHWISE if self.is_depthwise else JobKind.CONV
        return channels_per_group(self.macs, kind, self.flags)

    @property
    def flags(self) -> JobFlag:
        """Flags of its job."""
        chosen = {
            JobFlag.WIDE: self.is_wide,
            JobFlag.TAPS_8: self.has_8_taps,
            JobFlag.ONES: self.is_ones,
            JobFlag.UNSIGNED: self.is_unsigned,
            JobFlag.PACKED: self.is_packed,
            JobFlag.GATHERED: self.is_gathered,
        }
        return JobFlag(sum(flag for flag, is_set in chosen.items() if is_set))

    @property
    def word_lanes(self) -> int:
        """Inputs of a weight word."""
        return input_lanes_of(self.macs, self.flags)

    @property
    def groups(self) -> int:
        """Groups of channels."""
        return -(-self.channels // self.group_channels)

    @property
    def kernel(self) -> tuple[int, int]:
        """Kernel rows and columns."""
        return int(self.weights.shape[1]), int(self.weights.shape[2])

    @property
    def slots(self) -> int:
        """DEPTHWISE: taps in use."""
        return -(-self.kernel[1] // self.stride[1])

    @property
    def segments(self) -> int:
        """CONV: segments of bytes per kernel row."""
        return self.kernel[1] if self.dilation[1] > 1 else 1

    @property
    def segment_bytes(self) -> int:
        """CONV: bytes of a segment."""
        return self.kernel[1] // self.segments * self.input_pitch

    @property
    def segment_words(self) -> int:
        """CONV: words per segment, if gathered whole ones."""
        size = self.segment_bytes
        return (size if self.is_gathered else size + self.word_lanes - 1) // self.word_lanes

    @property
    def window_words(self) -> int:
        """CONV: words of a window."""
        if self.is_gathered:
            return -(-self.kernel[0] * self.segment_bytes // INPUT_LANES)
        return self.kernel[0] * self.segments * self.segment_words

    @property
    def can_gather(self) -> bool:
        """CONV: segments have whole words, carry few bytes, and the last one has one word more."""
        size, lanes = self.segment_bytes, INPUT_LANES
        places = [row * size % lanes for row in range(self.kernel[0])]
        has_words = self.segments == 1 and size > lanes and size % lanes > 0
        return has_words and max(places) <= CARRIED_LANES and places[-1] + size % lanes <= lanes

    @property
    def output_bytes(self) -> int:
        """Bytes of the output, gaps included."""
        pixels = self.output_rows * self.output_columns
        return pixels * self.output_pitch + self.output_rows * self.output_gap

    @property
    def interval(self) -> int:
        """Cycles between results that the requantizer needs."""
        beats = self.group_channels // self.outputs
        return beats * (2 if self.is_wide else 1)


def job_of(layer: Layer, input_address: int, output_address: int) -> EngineJob:
    """Return the descriptor of a layer."""
    (top, left), (kernel_rows, _) = layer.pads, layer.kernel
    pitch, stride = layer.input_pitch, layer.stride
    row_pitch = layer.columns * pitch
    is_depthwise = layer.is_depthwise
    phase = left % stride[1] if is_depthwise else 0
    last_channels = layer.channels - (layer.groups - 1) * layer.group_channels
    stream = fills(layer)
    return EngineJob(
        kind=JobKind.DEPTHWISE if is_depthwise else JobKind.CONV,
        flags=layer.flags,
        interval=layer.interval,
        layer=0,
        wait_transfers=0,
        groups=layer.groups,
        first_address=input_address - top * row_pitch,
        output_address=output_address,
        first_offset=0 if is_depthwise else -left * pitch,
        row_span=row_pitch,
        first_row=-top,
        input_rows=layer.rows,
        output_rows=layer.output_rows,
        output_columns=layer.output_columns,
        row_step=stride[0] * row_pitch,
        kernel_row_step=layer.dilation[0] * row_pitch,
        column_step=pitch if is_depthwise else stride[1] * pitch,
        segment_step=-layer.segment_bytes % INPUT_LANES
        if layer.is_gathered
        else layer.dilation[1] * pitch,
        segment_words=0 if is_depthwise else layer.segment_words,
        row_words=0 if is_depthwise else layer.segments * layer.segment_words,
        output_pixel_bytes=layer.output_pitch,
        group_words=stream[0].words,
        stride_rows=stride[0],
        dilation_rows=layer.dilation[0],
        kernel_rows=kernel_rows,
        segments=layer.slots if is_depthwise else layer.segments,
        input_zero_point=layer.input_zero_point,
        output_zero_point=layer.output_zero_point,
        activation_min=layer.clamp[0],
        activation_max=layer.clamp[1],
        weights_offset=0,
        weights_bytes=sum(len(fill.beats) for fill in stream) * 16,
        stride_columns=stride[1],
        first_phase=phase,
        skip_results=layer.slots - 1 - left // stride[1] if is_depthwise else 0,
        last_beats=-(-last_channels // last_unit_of(layer.macs)),
        group_input_step=layer.group_channels if is_depthwise else 0,
        group_output_step=layer.group_channels,
        input_2_address=0,
        weight_zero_point=layer.weight_zero_point,
        first_index=phase * kernel_rows,
        sums=0,
        gives_positions=0,
        wait_rows=0,
        output_row_step=layer.output_pitch + layer.output_gap,
        wait_group_step=0,
        wait_row_step=0,
        waits_in_pairs=0,
        reserved_1=0,
        resident_word=0,
    )


def fills(layer: Layer) -> list[Fill]:
    """Return the weight stream, group by group."""
    stream = []
    padded = layer.groups * layer.group_channels
    parameters = np.zeros((3, padded), np.int64)
    parameters[:, : layer.channels] = layer.parameters
    # Of channels that are not there these may be any.
    parameters[1:, layer.channels :] = layer.parameters[1:, -1:]
    if layer.is_packed:
        parameters[0, : layer.channels] = numerics.wrap_int32(
            layer.parameters[0] - layer.products_of_zero
        )
    for first in range(0, padded, layer.group_channels):
        channels = slice(first, first + layer.group_channels)
        words = (_depthwise_words if layer.is_depthwise else _conv_words)(layer, channels)
        blocks = layer.group_channels // _PARAMETER_BLOCK
        beats = parameter_beats(parameters[:, channels])
        stored = [int(byte) for byte in (words.reshape(-1) & 0xFF)]
        beats += [pack(stored[k : k + 16], 8) for k in range(0, len(stored), 16)]
        stream.append(Fill(blocks, len(words), is_table=False, beats=beats))
    return stream


def parameter_beats(parameters: Ints) -> list[int]:
    """Return the beats of [bias, multiplier, shift] of channels, a multiple of 4 of them."""
    return [
        pack([int(value) for value in parameters[field, first : first + _PARAMETER_BLOCK]], 32)
        for first in range(0, parameters.shape[1], _PARAMETER_BLOCK)
        for field in range(3)
    ]


def _conv_words(layer: Layer, channels: slice) -> Ints:
    """Return words [word, half, lane, depth, output]; of a depth are eight inputs.

    Bytes of no weight are the weight zero point.
    """
    rows, columns = layer.kernel
    segment_columns = columns // layer.segments
    inputs = layer.weights.shape[3]
    taps = np.full(
        (
            layer.group_channels,
            rows,
            layer.segments,
            -(-layer.segment_bytes // layer.word_lanes) * layer.word_lanes,
        ),
        layer.weight_zero_point,
    )
    chosen = layer.weights[channels]
    for column in range(columns):
        number, within = divmod(column, segment_columns)
        first = within * layer.input_pitch
        taps[: len(chosen), :, number, first : first + inputs] = chosen[:, :, column, :]
    halves = 2 if layer.is_packed else 1
    depths = layer.word_lanes // _LANES
    if layer.is_gathered:
        taps = _gathered(layer, taps)
    split = taps.reshape(halves, layer.group_channels // halves, -1, depths, _LANES)
    return split.transpose(2, 0, 4, 3, 1)


def _gathered(layer: Layer, taps: Ints) -> Ints:
    """Return taps [output, word and lane] in which segments follow each other without gaps."""
    size = layer.segment_bytes
    dense = np.concatenate([taps[:, row, 0, :size] for row in range(layer.kernel[0])], axis=1)
    behind = ((0, 0), (0, -dense.shape[1] % _LANES))
    return np.pad(dense, behind, constant_values=layer.weight_zero_point)


def _depthwise_words(layer: Layer, channels: slice) -> Ints:
    """Return words [phase * kernel rows + row, lane, output]."""
    rows, columns = layer.kernel
    stride, outputs = layer.stride[1], layer.outputs
    taps = _LANES * outputs // layer.group_channels
    words = np.full((stride, rows, _LANES, outputs), layer.weight_zero_point)
    for column in range(columns):
        slot, phase = divmod(column, stride)
        for half in range(_LANES // taps):
            first = channels.start + half * outputs
            chosen = layer.weights[0, :, column, first : min(first + outputs, channels.stop)]
            lane = half * taps + taps - layer.slots + slot
            words[phase, :, lane, : chosen.shape[1]] = chosen
    return words.reshape(-1, _LANES, outputs)[: 1 if layer.is_ones else None]


def layer_sums(layer: Layer, x: Ints) -> Ints:
    """Return the sums [rows, columns, channels] of an input [rows, columns, channels], TFLite's.

    Notes
    -----
    Ref: TensorFlow Lite 8-bit quantization specification; lite/kernels/internal/reference/
    integer_ops/conv.h and depthwise_conv.h.
    """
    rows, columns = layer.kernel
    weights = layer.weights - layer.weight_zero_point
    sums = np.zeros((layer.output_rows, layer.output_columns, layer.channels), np.int64)
    for oy, ox, ky, kx in np.ndindex(layer.output_rows, layer.output_columns, rows, columns):
        y = oy * layer.stride[0] + ky * layer.dilation[0] - layer.pads[0]
        column = ox * layer.stride[1] + kx * layer.dilation[1] - layer.pads[1]
        if not (0 <= y < layer.rows and 0 <= column < layer.columns):
            continue
        pixel = x[y, column] - layer.input_zero_point
        sums[oy, ox] += (
            pixel[: layer.channels] * weights[0, ky, kx]
            if layer.is_depthwise
            else weights[:, ky, kx] @ pixel
        )
    return sums


def expected_output(layer: Layer, sums: Ints) -> Ints:
    """Return the output of what a layer's sums and biases are together."""
    _, multiplier, shift = layer.parameters
    return numerics.requantize(
        numerics.wrap_int32(sums), multiplier, shift, layer.output_zero_point, *layer.clamp
    )
