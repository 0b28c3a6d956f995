"""From a layer, rows and addresses to a job and its weight stream."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.layers import EngineLayer, Window, padded, segment_shape
from kiwicha.compiler.engine.select.packed_products import stream_parameters
from kiwicha.contract.engine import (
    ELEMENT_KINDS,
    GROUP_PARAMETER_BYTES,
    INPUT_LANES,
    PAIR_KINDS,
    TABLE_ENTRIES,
    TABLE_ENTRY_BYTES,
    TABLE_KINDS,
    EngineJob,
    JobFlag,
    JobKind,
    outputs_of,
)
from kiwicha.program.weight_streams import (
    Parameters,
    bytes_of_word,
    channels_per_group,
    pack_conv_words,
    pack_depthwise_words,
    pack_groups,
    pack_tables,
)

__all__ = ["Part", "engine_job", "stream_bytes", "weight_stream"]

_MAX_U16 = 2**16 - 1


@dataclass(frozen=True)
class Part:
    """The rows of a layer that one job computes, and where they are.

    Parameters
    ----------
    input_addresses : tuple of int
        First byte of row ``first_input_row`` of each input.
    input_pitch : int
        Bytes from one input pixel to the next.
    first_input_row, input_rows : int
        Rows that lie there; those outside must be outside the image.
    output_address : int
        Where row ``first_output_row`` goes.
    output_pitch : int
        Bytes from one output pixel to the next.
    first_output_row, output_rows : int
        Rows to compute.
    column : int or None
        DEPTHWISE: the only column to compute. Addresses are those of column 0.
    """

    input_addresses: tuple[int, ...]
    input_pitch: int
    first_input_row: int
    input_rows: int
    output_address: int
    output_pitch: int
    first_output_row: int
    output_rows: int
    column: int | None = None


def weight_stream(layer: EngineLayer, macs: int, input_pitch: int) -> bytes:
    """Return the weight stream of a layer's jobs, raw."""
    if layer.kind in ELEMENT_KINDS:
        return _element_stream(layer, macs)
    channels = channels_per_group(macs, layer.kind, layer.flags)
    if layer.kind is JobKind.MAX:
        groups = -(-layer.output_channels // channels)
        words = np.zeros((groups, 1, bytes_of_word(macs, layer.flags)), np.int16)
    elif layer.kind is JobKind.CONV:
        is_packed = bool(layer.flags & JobFlag.PACKED)
        words = pack_conv_words(_conv_bytes(layer, input_pitch), macs, is_packed=is_packed)
    else:
        stride = layer.window.stride_columns
        words = pack_depthwise_words(layer.weights, macs, channels, stride)
        if layer.flags & JobFlag.ONES:
            words = words[:, :1]
    stored = (words + np.int16(layer.weight_zero_point)).astype(np.int8)
    return pack_groups(stream_parameters(layer), stored, channels)


def stream_bytes(layer: EngineLayer, macs: int, input_pitch: int) -> int:
    """Return the size of a layer's weight stream."""
    outputs = outputs_of(macs)
    if layer.kind in ELEMENT_KINDS:
        words = _element_words(layer, macs) * bytes_of_word(macs, layer.flags)
        return _element_groups(layer, macs) * (outputs * GROUP_PARAMETER_BYTES + words)
    channels = channels_per_group(macs, layer.kind, layer.flags)
    window = layer.window
    if layer.kind is JobKind.CONV:
        segments, words = segment_shape(window, input_pitch)
        words *= segments * window.kernel_rows
    elif layer.kind is JobKind.MAX:
        words = 1
    else:
        words = 1 if layer.flags & JobFlag.ONES else window.stride_columns * window.kernel_rows
    groups = -(-layer.output_channels // channels)
    return groups * (channels * GROUP_PARAMETER_BYTES + words * bytes_of_word(macs, layer.flags))


def _conv_bytes(layer: EngineLayer, pitch: int) -> NDArray[np.int16]:
    """Return int16 [outputs, words, 8]: the weight of every byte that a pixel reads."""
    outputs, rows, columns, channels = layer.weights.shape
    segments, words = segment_shape(layer.window, pitch)
    if segments == 1 and pitch <= padded(channels):
        pixels = np.zeros((outputs, rows, columns, pitch), np.int16)
        pixels[..., :channels] = layer.weights
        run_bytes = pixels.reshape(outputs, rows, columns * pitch)
    else:
        run_bytes = layer.weights.reshape(outputs, rows * columns, channels)
    whole = np.zeros((*run_bytes.shape[:2], words * INPUT_LANES), np.int16)
    whole[..., : run_bytes.shape[2]] = run_bytes
    return whole.reshape(outputs, -1, INPUT_LANES)


def engine_job(layer: EngineLayer, macs: int, first_layer: int, part: Part) -> EngineJob:
    """Return a job that waits for nothing and whose weights are nowhere yet.

    Parameters
    ----------
    layer : EngineLayer
        The layer.
    macs : int
        Products per cycle.
    first_layer : int
        Position of the layer to which the step belongs.
    part : Part
        Rows and addresses.
    """
    build = {
        JobKind.CONV: _conv_job,
        JobKind.DEPTHWISE: _depthwise_job,
        JobKind.ADD: _element_job,
        JobKind.TABLE: _element_job,
        JobKind.MUL: _element_job,
        JobKind.MAX: _max_job,
    }[layer.kind]
    fields = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0)
    fields |= {
        "kind": layer.kind,
        "flags": layer.flags,
        "layer": min(layer.position - first_layer, 255),
        "input_zero_point": layer.input_zero_point,
        "output_zero_point": layer.output_zero_point,
        "activation_min": layer.clamp[0],
        "activation_max": layer.clamp[1],
        "weight_zero_point": layer.weight_zero_point,
        "output_address": part.output_address,
    }
    return EngineJob(**(fields | build(layer, macs, part)))


def _element_words(layer: EngineLayer, macs: int) -> int:
    """Return the weight words of a group.

    Tables count as if they were weights: the size of a stream follows from the same fields.
    """
    word_bytes = INPUT_LANES * outputs_of(macs)
    return TABLE_ENTRIES * TABLE_ENTRY_BYTES // word_bytes if layer.kind in TABLE_KINDS else 1


def _element_groups(layer: EngineLayer, macs: int) -> int:
    return 1 if layer.is_flat else padded(layer.output_channels) // outputs_of(macs)


def _element_stream(layer: EngineLayer, macs: int) -> bytes:
    outputs = outputs_of(macs)
    channels = _element_groups(layer, macs) * outputs
    p = layer.parameters
    fields = (p.bias, p.multiplier, p.shift)
    # One number is for all channels; channels behind the last one are as good as any.
    parameters = Parameters(*(np.resize(values, channels) for values in fields))
    if layer.kind in TABLE_KINDS:
        return pack_tables(layer.tables, parameters, macs)
    words = np.zeros((channels // outputs, 1, bytes_of_word(macs, layer.flags)), np.int8)
    return pack_groups(parameters, words, outputs)


def _element_job(layer: EngineLayer, macs: int, part: Part) -> dict[str, int]:
    outputs = outputs_of(macs)
    pixels = part.output_rows * layer.window.output_columns
    rows_skipped = part.first_output_row - part.first_input_row
    skipped = rows_skipped * layer.window.input_columns * part.input_pitch
    first, *others = part.input_addresses
    second = others[0] if others else 0
    is_flat = layer.is_flat
    return {
        "interval": 2 if layer.kind in PAIR_KINDS or layer.flags & JobFlag.WIDE else 1,
        "groups": _element_groups(layer, macs),
        "group_words": _element_words(layer, macs),
        "first_address": first + skipped,
        "input_2_address": second + skipped if others and is_flat else second,
        "segment_words": -(-pixels * part.input_pitch // outputs) if is_flat else pixels,
        "column_step": outputs if is_flat else part.input_pitch,
        "output_pixel_bytes": outputs if is_flat else part.output_pitch,
        "group_input_step": 0 if is_flat else outputs,
        "group_output_step": 0 if is_flat else outputs,
    }


def _rows(window: Window, part: Part) -> dict[str, int]:
    """Return the fields of the walk down the rows, which all kinds of windows share."""
    row_pitch = window.input_columns * part.input_pitch
    first_row = part.first_output_row * window.stride_rows - window.pad_top - part.first_input_row
    left_out = max(part.input_pitch - padded(window.channels), 0)
    return {
        "first_address": part.input_addresses[0] + first_row * row_pitch,
        # It starts with the first channel and must not reach over the last pixel's end.
        "row_span": row_pitch - left_out,
        "first_row": first_row,
        "input_rows": part.input_rows,
        "output_rows": part.output_rows,
        "output_columns": window.output_columns,
        "row_step": window.stride_rows * row_pitch,
        "kernel_row_step": window.dilation_rows * row_pitch,
        "output_pixel_bytes": part.output_pitch,
        "stride_rows": window.stride_rows,
        "dilation_rows": window.dilation_rows,
        "kernel_rows": window.kernel_rows,
    }


def _conv_job(layer: EngineLayer, macs: int, part: Part) -> dict[str, int]:
    window = layer.window
    if _is_pointwise(window, part):
        window, part = _in_one_row(window, part)
    segments, words = segment_shape(window, part.input_pitch)
    return (
        _rows(window, part)
        | _groups(layer, macs)
        | {
            "first_offset": -window.pad_left * part.input_pitch,
            "column_step": window.stride_columns * part.input_pitch,
            "segment_step": window.dilation_columns * part.input_pitch,
            "segment_words": words,
            "row_words": segments * words,
            "group_words": window.kernel_rows * segments * words,
            "segments": segments,
        }
    )


def _max_job(layer: EngineLayer, macs: int, part: Part) -> dict[str, int]:
    window = layer.window
    return (
        _rows(window, part)
        | _groups(layer, macs)
        | {
            "first_offset": -window.pad_left * part.input_pitch,
            "column_step": window.stride_columns * part.input_pitch,
            "segment_step": part.input_pitch,
            "segment_words": 1,
            "row_words": window.kernel_columns,
            "group_words": 1,
            "segments": window.kernel_columns,
            "group_input_step": channels_per_group(macs, layer.kind, layer.flags),
        }
    )


def _groups(layer: EngineLayer, macs: int) -> dict[str, int]:
    """Return the fields of the groups of output channels, and of the beats of their results."""
    outputs = outputs_of(macs)
    group = channels_per_group(macs, layer.kind, layer.flags)
    beats = group // outputs
    groups = -(-layer.output_channels // group)
    left = padded(layer.output_channels) - (groups - 1) * group
    return {
        "interval": beats * (2 if layer.flags & JobFlag.WIDE else 1),
        "groups": groups,
        "last_beats": min(-(-left // outputs), beats),
        "group_output_step": group,
    }


def _is_pointwise(window: Window, part: Part) -> bool:
    pixels = part.output_rows * window.output_columns
    return (
        window.kernel_rows == window.kernel_columns == 1
        and window.stride_rows == window.stride_columns == 1
        and window.pad_top == window.pad_left == 0
        and window.input_columns == window.output_columns
        and pixels * part.input_pitch <= _MAX_U16
    )


def _in_one_row(window: Window, part: Part) -> tuple[Window, Part]:
    """Return a 1x1 convolution as one long row, which the walker does without a pause."""
    skipped = part.first_output_row - part.first_input_row
    address = part.input_addresses[0] + skipped * window.input_columns * part.input_pitch
    pixels = part.output_rows * window.output_columns
    return (
        Window(1, pixels, window.channels, 1, pixels),
        Part((address,), part.input_pitch, 0, 1, part.output_address, part.output_pitch, 0, 1),
    )


def _depthwise_job(layer: EngineLayer, macs: int, part: Part) -> dict[str, int]:
    window = layer.window
    group = channels_per_group(macs, layer.kind, layer.flags)
    pad_left = window.pad_left
    rows = _rows(window, part)
    if part.column is not None:
        # The input starts where the window does, unless that is left of the image.
        start = part.column * window.stride_columns - window.pad_left
        pad_left, skipped = max(-start, 0), max(start, 0) * part.input_pitch
        rows["first_address"] += skipped
        rows["row_span"] -= skipped
        rows["output_columns"] = 1
        rows["output_pixel_bytes"] = window.output_columns * part.output_pitch
        rows["output_address"] = part.output_address + part.column * part.output_pitch
    first_phase = pad_left % window.stride_columns
    words = 1 if layer.flags & JobFlag.ONES else window.stride_columns * window.kernel_rows
    return (
        rows
        | _groups(layer, macs)
        | {
            "column_step": part.input_pitch,
            "segments": window.slots,
            "group_words": words,
            "stride_columns": window.stride_columns,
            "first_phase": first_phase,
            "skip_results": window.slots - 1 - pad_left // window.stride_columns,
            "group_input_step": group,
            "first_index": first_phase * window.kernel_rows,
        }
    )
