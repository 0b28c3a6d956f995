"""MAX jobs for the benches: descriptor, weight stream and definition of a pool of largest bytes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    INPUT_LANES,
    MAX_INPUT_ZERO_POINT,
    MAX_POSITIONS,
    OUTPUT_BYTES,
    EngineJob,
    JobFlag,
    JobKind,
)
from kiwicha.numerics import requantization as numerics
from tests.gateware.engine.window_jobs import Fill, parameter_beats
from tests.support.gateware.engine_fields import pack

__all__ = ["Pool", "expected_maxima", "max_fills", "max_job"]

Ints = NDArray[np.int64]
_PARAMETER_BLOCK = 4


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Windows of which each channel gives its largest byte.

    ``outputs`` are the channels of a group; ``parameters`` are bias, multiplier and shift of each
    channel, [3, channels]. Pairs are of rows and columns. With ``gives_positions``, sums have
    positions.
    """

    outputs: int
    size: tuple[int, int]
    input_pitch: int
    output_pitch: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    pads: tuple[int, int]
    output_size: tuple[int, int]
    parameters: Ints
    weight_zero_point: int
    output_zero_point: int
    clamp: tuple[int, int]
    is_wide: bool
    gives_positions: bool = False

    @property
    def channels(self) -> int:
        """Channels of input and output."""
        return int(self.parameters.shape[1])

    @property
    def groups(self) -> int:
        """Groups of channels."""
        return -(-self.channels // self.outputs)


def max_fills(pool: Pool) -> list[Fill]:
    """Return the weight stream, group by group: parameters, and a word of weights 0."""
    parameters = np.zeros((3, pool.groups * pool.outputs), np.int64)
    parameters[:, : pool.channels] = pool.parameters
    word = INPUT_LANES * pool.outputs * [pool.weight_zero_point & 0xFF]
    weights = [pack(word[k : k + 16], 8) for k in range(0, len(word), 16)]
    return [
        Fill(
            pool.outputs // _PARAMETER_BLOCK,
            1,
            is_table=False,
            beats=parameter_beats(parameters[:, first : first + pool.outputs]) + weights,
        )
        for first in range(0, pool.groups * pool.outputs, pool.outputs)
    ]


def max_job(pool: Pool, input_address: int, output_address: int) -> EngineJob:
    """Return the descriptor of a pool."""
    (top, left), pitch = pool.pads, pool.input_pitch
    row_pitch = pool.size[1] * pitch
    fields = {name: 0 for name, _, _ in EngineJob.layout()}
    fields |= {
        "kind": JobKind.MAX,
        "flags": JobFlag.ONES | (JobFlag.WIDE if pool.is_wide else JobFlag(0)),
        "interval": 2 if pool.is_wide else 1,
        "groups": pool.groups,
        "first_address": input_address - top * row_pitch,
        "output_address": output_address,
        "first_offset": -left * pitch,
        "row_span": row_pitch,
        "first_row": -top,
        "input_rows": pool.size[0],
        "output_rows": pool.output_size[0],
        "output_columns": pool.output_size[1],
        "row_step": pool.stride[0] * row_pitch,
        "kernel_row_step": row_pitch,
        "column_step": pool.stride[1] * pitch,
        "segment_step": pitch,
        "segment_words": 1,
        "row_words": pool.kernel[1],
        "output_pixel_bytes": pool.output_pitch,
        "output_row_step": pool.output_pitch,
        "group_words": 1,
        "stride_rows": pool.stride[0],
        "dilation_rows": 1,
        "kernel_rows": pool.kernel[0],
        "segments": pool.kernel[1],
        "input_zero_point": MAX_INPUT_ZERO_POINT,
        "output_zero_point": pool.output_zero_point,
        "activation_min": pool.clamp[0],
        "activation_max": pool.clamp[1],
        "weights_bytes": sum(len(fill.beats) for fill in max_fills(pool)) * 16,
        "last_beats": -(-(pool.channels - (pool.groups - 1) * pool.outputs) // OUTPUT_BYTES),
        "group_input_step": pool.outputs,
        "group_output_step": pool.outputs,
        "weight_zero_point": pool.weight_zero_point,
        "gives_positions": pool.gives_positions,
    }
    return EngineJob(**fields)


def expected_maxima(pool: Pool, x: Ints) -> Ints:
    """Return the output [rows, columns, channels] of an input [rows, columns, channels]."""
    top, left = pool.pads
    rows, columns = pool.kernel
    # Whatever lies outside is less than any byte; a window without any counts as the least.
    padded = np.full((x.shape[0] + 2 * rows, x.shape[1] + 2 * columns, x.shape[2]), -128)
    padded[top : top + x.shape[0], left : left + x.shape[1]] = x
    maxima = np.empty((*pool.output_size, pool.channels), np.int64)
    for oy, ox in np.ndindex(*pool.output_size):
        y, column = oy * pool.stride[0], ox * pool.stride[1]
        window = padded[y : y + rows, column : column + columns].reshape(rows * columns, -1)
        maxima[oy, ox] = window.max(axis=0)
        if pool.gives_positions:
            maxima[oy, ox] += MAX_POSITIONS * window.argmax(axis=0)
    bias, multiplier, shift = pool.parameters
    return numerics.requantize(
        maxima - MAX_INPUT_ZERO_POINT + bias,
        multiplier,
        shift,
        pool.output_zero_point,
        *pool.clamp,
    )
