"""From an operation, rows and addresses to a job: the fields of its descriptor."""

import dataclasses
import math
from functools import singledispatch

from kiwicha.compiler.engine.codegen.streams import (
    group_channels,
    group_count,
    group_words,
    is_gathered,
)
from kiwicha.compiler.engine.ir.element_operations import ElementOperation, RowAddition
from kiwicha.compiler.engine.ir.fused_operations import FusedConvolution, SumTables
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.plan import JobGeometry, PartOfRows
from kiwicha.compiler.engine.ir.softmax_operation import SoftmaxOperation
from kiwicha.compiler.engine.ir.window import Window, padded, segment_shape
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    MaxPooling,
)
from kiwicha.contract.depthwise import UNIT_CHANNELS, pass_columns, passes_of
from kiwicha.contract.engine import (
    DEEP_MACS,
    INPUT_LANES,
    MAX_U8,
    MAX_U16,
    PAIR_KINDS,
    SQUARE_INTERVAL,
    EngineJob,
    JobFlag,
    JobKind,
    input_lanes_of,
    last_unit_of,
    outputs_of,
)
from kiwicha.contract.latencies import FUSED_BEAT_CYCLES

__all__ = ["engine_job"]

Fields = dict[str, int]


def engine_job(
    operation: JobOperation,
    macs: int,
    first_layer: int,
    geometry: JobGeometry,
    *,
    is_unit: bool = False,
) -> EngineJob:
    """Return a job that waits for nothing and whose weights are nowhere yet.

    Parameters
    ----------
    operation : JobOperation
        What it computes.
    macs : int
        Products per cycle.
    first_layer : int
        Position of the layer to which the step belongs.
    geometry : JobGeometry
        Rows and addresses.
    is_unit : bool
        It is for the depthwise unit.
    """
    input_zero_point, weight_zero_point = operation.zero_points
    fields = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0)
    fields |= {
        "kind": operation.kind,
        "flags": operation.flags,
        "layer": min(operation.position - first_layer, MAX_U8),
        "groups": group_count(operation, macs),
        "input_zero_point": input_zero_point,
        "output_zero_point": operation.output_zero_point,
        "activation_min": operation.clamp[0],
        "activation_max": operation.clamp[1],
        "weight_zero_point": weight_zero_point,
        "output_address": geometry.output_address,
        "sums": operation.sums,
    }
    if is_unit:
        assert isinstance(operation, DepthwiseConvolution)
        return EngineJob(**(fields | _unit_fields(operation, geometry)))
    return EngineJob(**(fields | _fields(operation, macs, geometry)))


def _unit_fields(operation: DepthwiseConvolution, geometry: JobGeometry) -> Fields:
    """Return the fields of a job of the depthwise unit."""
    window = operation.window
    rows, first_column = _rows(window, geometry)
    # It goes through rows by their pitch, and through all columns.
    for name in ("row_step", "row_span"):
        del rows[name]
    return rows | {
        "kind": JobKind.DEPTHWISE_UNIT,
        "flags": 0,
        "interval": 1,
        "groups": padded(operation.output_channels) // UNIT_CHANNELS,
        "group_input_step": UNIT_CHANNELS,
        "group_output_step": UNIT_CHANNELS,
        "group_words": math.prod(passes_of(window.kernel_rows, window.kernel_columns)),
        "column_step": geometry.input_pitch,
        "segment_words": pass_columns(window.output_columns, window.stride_columns),
        "row_words": window.input_columns,
        "segments": window.kernel_columns,
        "stride_columns": window.stride_columns,
        "skip_results": -first_column,
        "first_index": (geometry.output_rows - 1) * window.stride_rows + window.kernel_rows,
    }


@singledispatch
def _fields(operation: JobOperation, macs: int, geometry: JobGeometry) -> Fields:
    """Return the fields that an operation's kind of job uses."""
    raise TypeError(operation)


@_fields.register
def _(operation: ElementOperation, macs: int, geometry: JobGeometry) -> Fields:
    outputs = outputs_of(macs)
    pitch = geometry.input_pitch
    pixels = geometry.output_rows * operation.window.output_columns
    rows_skipped = geometry.first_output_row - geometry.first_input_row
    skipped = rows_skipped * operation.window.input_columns * pitch
    first, *others = geometry.input_addresses
    second = others[0] if others else 0
    is_flat = operation.is_flat
    is_slow = operation.kind in PAIR_KINDS or operation.is_wide
    is_square = bool(operation.flags & JobFlag.SQUARE)
    return {
        "interval": SQUARE_INTERVAL if is_square else 2 if is_slow else 1,
        "group_words": group_words(operation, macs, pitch),
        "first_address": first + skipped,
        "input_2_address": second + skipped if others and is_flat else second,
        "segment_words": -(-pixels * pitch // outputs) if is_flat else pixels,
        "column_step": outputs if is_flat else pitch,
        "output_pixel_bytes": outputs if is_flat else geometry.output_pitch,
        "group_input_step": 0 if is_flat else outputs,
        "group_output_step": 0 if is_flat else outputs,
        "last_beats": _last_beats(pixels * pitch if is_flat else operation.output_channels, macs),
    }


@_fields.register
def _(operation: RowAddition, macs: int, geometry: JobGeometry) -> Fields:
    outputs = outputs_of(macs)
    window, pitch = operation.window, geometry.output_pitch
    columns = geometry.columns or range(window.output_columns)
    skipped, size = columns.start * pitch, len(columns) * pitch
    row_bytes = window.input_columns * geometry.input_pitch
    first, second = (
        geometry.input_addresses[0] + (row - geometry.first_input_row) * row_bytes + skipped
        for row in operation.rows
    )
    return {
        "interval": 2,
        "group_words": group_words(operation, macs, geometry.input_pitch),
        "first_address": first,
        "input_2_address": second,
        "output_address": geometry.output_address + skipped,
        "segment_words": -(-size // outputs),
        "column_step": outputs,
        "output_pixel_bytes": outputs,
        "last_beats": _last_beats(size, macs),
    }


@_fields.register
def _(operation: SoftmaxOperation, macs: int, geometry: JobGeometry) -> Fields:
    window = operation.window
    rows_skipped = geometry.first_output_row - geometry.first_input_row
    skipped = rows_skipped * window.input_columns * geometry.input_pitch
    return {
        "interval": 1,
        "group_words": group_words(operation, macs, geometry.input_pitch),
        "first_address": geometry.input_addresses[0] + skipped,
        "segment_words": window.channels,
        "output_rows": geometry.output_rows * window.output_columns,
        "row_step": geometry.input_pitch,
        "output_row_step": geometry.output_pitch,
    }


@_fields.register(Convolution)
def _convolution_fields(operation: Convolution, macs: int, geometry: JobGeometry) -> Fields:
    window = operation.window
    words_of_group = group_words(operation, macs, geometry.input_pitch)
    if _is_pointwise(window, geometry) and not geometry.is_by_rows:
        window, geometry = _in_one_row(window, geometry)
    lanes = input_lanes_of(macs, operation.flags)
    segments, words = segment_shape(window, geometry.input_pitch, lanes)
    flags, step = operation.flags, window.dilation_columns * geometry.input_pitch
    if is_gathered(operation, macs, geometry.input_pitch):
        flags |= JobFlag.GATHERED
        size = window.kernel_columns * geometry.input_pitch
        words, step = size // INPUT_LANES, -size % INPUT_LANES
    rows, first_column = _rows(window, geometry)
    return (
        rows
        | _groups(operation, macs)
        | {
            "flags": flags,
            "first_offset": first_column * geometry.input_pitch,
            "column_step": window.stride_columns * geometry.input_pitch,
            "segment_step": step,
            "segment_words": words,
            "row_words": segments * words,
            "group_words": words_of_group,
            "segments": segments,
            "input_2_address": operation.lower_step % 2**32,
        }
    )


@_fields.register
def _(operation: FusedConvolution, macs: int, geometry: JobGeometry) -> Fields:
    fields = _convolution_fields(operation, macs, geometry)
    _, second = geometry.input_addresses
    return fields | {
        "interval": max(fields["interval"], FUSED_BEAT_CYCLES),
        "input_2_address": (second - geometry.output_address) % 2**32,
    }


@_fields.register
def _(operation: SumTables, macs: int, geometry: JobGeometry) -> Fields:
    outputs = outputs_of(macs)
    return {
        "interval": 2,
        "group_words": group_words(operation, macs, geometry.input_pitch),
        "segment_words": 1,
        "column_step": outputs,
        "output_pixel_bytes": outputs,
        "last_beats": _last_beats(outputs, macs),
    }


@_fields.register
def _(operation: MaxPooling, macs: int, geometry: JobGeometry) -> Fields:
    window = operation.window
    rows, first_column = _rows(window, geometry)
    return (
        rows
        | _groups(operation, macs)
        | {
            "first_offset": first_column * geometry.input_pitch,
            "column_step": window.stride_columns * geometry.input_pitch,
            "segment_step": geometry.input_pitch,
            "segment_words": 1,
            "gives_positions": operation.gives_positions,
            "row_words": window.kernel_columns,
            "group_words": group_words(operation, macs, geometry.input_pitch),
            "segments": window.kernel_columns,
            "group_input_step": group_channels(operation, macs),
        }
    )


@_fields.register
def _(operation: DepthwiseConvolution, macs: int, geometry: JobGeometry) -> Fields:
    window = operation.window
    if _has_whole_rows(window, geometry) and not geometry.is_by_rows:
        window, geometry = _rows_as_columns(window, geometry)
    rows, pad_left = _depthwise_rows(window, geometry)
    first_phase = pad_left % window.stride_columns
    return (
        rows
        | _groups(operation, macs)
        | {
            "column_step": window.dilation_columns * geometry.input_pitch,
            "segments": window.slots,
            "group_words": group_words(operation, macs, geometry.input_pitch),
            "stride_columns": window.stride_columns,
            "first_phase": first_phase,
            "skip_results": window.slots - 1 - pad_left // window.stride_columns,
            "group_input_step": group_channels(operation, macs),
            "first_index": first_phase * window.kernel_rows,
            "input_2_address": operation.lower_step % 2**32,
        }
    )


def _depthwise_rows(window: Window, geometry: JobGeometry) -> tuple[Fields, int]:
    """Return the fields of the way over rows and columns, and the columns left of what is read.

    With dilation a job writes every so many-th column, and reads no others.
    """
    step, pitch = window.dilation_columns, geometry.input_pitch
    if step == 1:
        fields, first_column = _rows(window, geometry)
        return fields, -first_column
    columns = geometry.columns or range(0, window.output_columns, step)
    start = columns.start - window.pad_left
    first = start if start >= 0 else start % step
    whole = dataclasses.replace(window, pad_left=0)
    fields, _ = _rows(whole, dataclasses.replace(geometry, columns=columns))
    others = len(range(first, window.input_columns, step)) - 1
    # What is behind the last of these columns is not read.
    fields["row_span"] += (others * step + 1 - window.input_columns) * pitch
    fields["first_address"] += first * pitch
    return fields, (first - start) // step


def _rows(window: Window, geometry: JobGeometry) -> tuple[Fields, int]:
    """Return the fields of the way over rows and columns, which all kinds of windows share.

    And the first window's column in what is read, which starts there unless that is left of it.
    """
    input_pitch, output_pitch = geometry.input_pitch, geometry.output_pitch
    whole = PartOfRows(0, window.input_columns, window.input_columns * input_pitch)
    part = geometry.part or whole
    row_pitch = part.row_bytes
    first_row = geometry.first_output_row * window.stride_rows - window.pad_top
    first_row -= geometry.first_input_row
    columns = geometry.columns or range(window.output_columns)
    start = columns.start // columns.step * window.stride_columns - window.pad_left - part.first
    is_slice = input_pitch > padded(window.channels)
    # It starts with the first channel and must not reach over the last pixel's end.
    left_out = input_pitch - window.channels if is_slice else 0
    row_bytes = part.columns * input_pitch - left_out
    skipped = min(max(start, 0) * input_pitch, row_bytes)
    pixel_step = columns.step * output_pitch
    fields = {
        "first_address": geometry.input_addresses[0] + first_row * row_pitch + skipped,
        "row_span": row_bytes - skipped,
        "first_row": first_row,
        "input_rows": geometry.input_rows,
        "output_rows": geometry.output_rows,
        "output_columns": len(columns),
        "row_step": window.stride_rows * row_pitch,
        "kernel_row_step": window.dilation_rows * row_pitch,
        "output_address": geometry.output_address + columns.start * output_pitch,
        "output_pixel_bytes": pixel_step,
        "output_row_step": geometry.output_row_bytes - (len(columns) - 1) * pixel_step,
        "stride_rows": window.stride_rows,
        "dilation_rows": window.dilation_rows,
        "kernel_rows": window.kernel_rows,
    }
    return fields, min(start, 0)


def _groups(operation: JobOperation, macs: int) -> Fields:
    """Return the fields of the groups of output channels, and of the beats of their results."""
    channels = group_channels(operation, macs)
    beats = channels // outputs_of(macs)
    unit = last_unit_of(macs)
    left = padded(operation.output_channels) - (group_count(operation, macs) - 1) * channels
    return {
        "interval": beats * (2 if operation.flags & JobFlag.WIDE else 1),
        "last_beats": min(-(-left // unit), channels // unit),
        "group_output_step": channels,
    }


def _last_beats(values: int, macs: int) -> int:
    """Return the `EngineJob.last_beats` of an element-wise job, by values of a pixel or job."""
    if macs != DEEP_MACS:
        return 0
    left = padded(values) % outputs_of(macs) or outputs_of(macs)
    return left // last_unit_of(macs)


def _is_pointwise(window: Window, geometry: JobGeometry) -> bool:
    pixels = geometry.output_rows * window.output_columns
    return (
        window.kernel_rows == window.kernel_columns == 1
        and window.stride_rows == window.stride_columns == 1
        and window.pad_top == window.pad_left == 0
        and window.input_columns == window.output_columns
        and geometry.columns is None
        and geometry.output_row_bytes == window.output_columns * geometry.output_pitch
        and pixels * geometry.input_pitch <= MAX_U16
    )


def _in_one_row(window: Window, geometry: JobGeometry) -> tuple[Window, JobGeometry]:
    """Return a 1x1 convolution as one long row, which the engine does without a pause."""
    skipped = geometry.first_output_row - geometry.first_input_row
    pitch = geometry.input_pitch
    address = geometry.input_addresses[0] + skipped * window.input_columns * pitch
    pixels = geometry.output_rows * window.output_columns
    in_one_row = dataclasses.replace(
        geometry,
        input_addresses=(address,),
        first_input_row=0,
        input_rows=1,
        first_output_row=0,
        output_rows=1,
        output_row_bytes=pixels * geometry.output_pitch,
    )
    return Window.of_pixels(1, pixels, window.channels), in_one_row


def _has_whole_rows(window: Window, geometry: JobGeometry) -> bool:
    """Whether each output is that of one whole row, and so many rows can be columns of one."""
    steps = geometry.output_rows * window.input_columns * geometry.input_pitch
    return (
        window.kernel_columns == window.stride_columns == window.input_columns > 1
        and window.kernel_rows == window.stride_rows == 1
        and window.pad_top == window.pad_left == 0
        and geometry.columns is None
        and max(steps, geometry.output_row_bytes) <= MAX_U16
    )


def _rows_as_columns(window: Window, geometry: JobGeometry) -> tuple[Window, JobGeometry]:
    """Return a depthwise convolution of whole rows as one long row: nothing begins in between."""
    skipped = geometry.first_output_row - geometry.first_input_row
    rows, pitch = geometry.output_rows, geometry.input_pitch
    address = geometry.input_addresses[0] + skipped * window.input_columns * pitch
    in_one_row = dataclasses.replace(
        geometry,
        input_addresses=(address,),
        first_input_row=0,
        input_rows=1,
        output_pitch=geometry.output_row_bytes,
        first_output_row=0,
        output_rows=1,
        output_row_bytes=rows * geometry.output_row_bytes,
    )
    whole = dataclasses.replace(
        window,
        input_rows=1,
        input_columns=rows * window.input_columns,
        output_rows=1,
        output_columns=rows,
    )
    return whole, in_one_row
