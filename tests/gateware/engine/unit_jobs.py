"""Jobs of the depthwise unit for the benches: from a layer to descriptor and weight stream."""

import dataclasses
import math

import numpy as np

from kiwicha.contract.depthwise import (
    LINE_COLUMNS,
    MAX_UNIT_KERNEL,
    PASS_BEATS,
    UNIT_CHANNELS,
    UNIT_TAPS,
    pass_columns,
    passes_of,
)
from kiwicha.contract.engine import EngineJob, JobKind
from kiwicha.contract.moves import AnyJob
from tests.gateware.engine.window_jobs import Fill, Layer, job_of, parameter_beats
from tests.support.gateware.engine_fields import pack

__all__ = ["is_for_unit", "rows_of", "unit_fills", "unit_job"]

_WINDOWS = {JobKind.CONV, JobKind.DEPTHWISE, JobKind.MAX, JobKind.DEPTHWISE_UNIT}


def is_for_unit(layer: Layer) -> bool:
    """Whether the unit can do a layer."""
    return (
        layer.is_depthwise
        and max(layer.kernel) <= MAX_UNIT_KERNEL
        and layer.dilation == (1, 1)
        and max(layer.columns, layer.output_columns) <= LINE_COLUMNS
        and not layer.is_wide
    )


def rows_of(job: AnyJob) -> int:
    """Return how many rows a job counts; one of the unit those of pairs of groups."""
    if not isinstance(job, EngineJob) or job.kind not in _WINDOWS:
        return 1
    is_unit = job.kind == JobKind.DEPTHWISE_UNIT
    return (math.ceil(job.groups / 2) if is_unit else job.groups) * job.output_rows


def unit_job(layer: Layer, input_address: int, output_address: int) -> EngineJob:
    """Return the descriptor of a layer."""
    kernel_rows, kernel_columns = layer.kernel
    blank = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0)
    plain = dataclasses.replace(layer, is_ones=False, has_8_taps=True)
    whole = job_of(plain, input_address, output_address)
    kept = (
        *("first_address", "output_address", "first_row", "input_rows", "output_rows"),
        *("output_columns", "kernel_row_step", "column_step", "output_pixel_bytes"),
        *("output_row_step", "stride_rows", "stride_columns", "dilation_rows", "kernel_rows"),
        *("input_zero_point", "output_zero_point", "activation_min", "activation_max"),
        *("weight_zero_point", "flags"),
    )
    stream = unit_fills(layer)
    fields = {name: getattr(whole, name) for name in kept} | {
        "kind": JobKind.DEPTHWISE_UNIT,
        "flags": whole.flags & 16,
        "interval": 1,
        "groups": len(stream),
        "group_words": stream[0].words,
        "segments": kernel_columns,
        "segment_words": pass_columns(layer.output_columns, layer.stride[1]),
        "row_words": layer.columns,
        "skip_results": layer.pads[1],
        "first_index": (layer.output_rows - 1) * layer.stride[0] + kernel_rows,
        "group_input_step": UNIT_CHANNELS,
        "group_output_step": UNIT_CHANNELS,
        "weights_bytes": sum(len(fill.beats) for fill in stream) * 16,
    }
    return EngineJob(**(blank | fields))


def unit_fills(layer: Layer) -> list[Fill]:
    """Return the weight stream, group by group."""
    rows, columns = layer.kernel
    down, right = passes_of(rows, columns)
    groups = -(-layer.channels // UNIT_CHANNELS)
    shape = (down * UNIT_TAPS, right * UNIT_TAPS, groups * UNIT_CHANNELS)
    weights = np.full(shape, layer.weight_zero_point)
    weights[:rows, :columns, : layer.channels] = layer.weights[0]
    parameters = np.zeros((3, groups * UNIT_CHANNELS), np.int64)
    parameters[:, : layer.channels] = layer.parameters
    stream = []
    for group in range(groups):
        channels = slice(group * UNIT_CHANNELS, (group + 1) * UNIT_CHANNELS)
        split = weights[:, :, channels].reshape(down, UNIT_TAPS, right, UNIT_TAPS, UNIT_CHANNELS)
        words = np.zeros((down * right, 2 * PASS_BEATS, UNIT_CHANNELS), np.int64)
        words[:, :-1] = split.transpose(0, 2, 1, 3, 4).reshape(down * right, -1, UNIT_CHANNELS)
        stored = [int(byte) for byte in (words.reshape(-1) & 0xFF)]
        beats = parameter_beats(parameters[:, channels])
        beats += [pack(stored[k : k + 16], 8) for k in range(0, len(stored), 16)]
        stream.append(Fill(2, math.prod((down, right)), is_table=False, beats=beats))
    return stream
