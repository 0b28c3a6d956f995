"""Stripes of rows in which a layer works whose input or output is in the arena."""

import math
from dataclasses import dataclass

from kiwicha.compiler.engine_layers import Window
from kiwicha.isa import ALIGNMENT_BYTES

__all__ = ["Stripe", "stripes"]

WANTED_STRIPES = 4
"""Stripes of a streamed layer, at least, so that transfers run beside arithmetic."""


@dataclass(frozen=True)
class Stripe:
    """Output rows, and the input rows inside the image that they need."""

    first_output_row: int
    output_rows: int
    first_input_row: int
    input_rows: int


def stripes(
    window: Window,
    input_pitch: int,
    output_pitch: int,
    streamed_inputs: int,
    is_output_streamed: bool,
    free_bytes: int,
    weight_bytes: int,
) -> list[Stripe] | None:
    """Return the stripes of a layer, None if not even the smallest ones fit.

    Parameters
    ----------
    window : Window
        Geometry of the layer.
    input_pitch, output_pitch : int
        Bytes per pixel.
    streamed_inputs : int
        How many inputs are in the arena.
    is_output_streamed : bool
        The output goes to the arena.
    free_bytes : int
        What the resident tensors leave of the scratchpad.
    weight_bytes : int
        Weights, which every stripe reads again.
    """
    rows = window.output_rows
    if not streamed_inputs and not is_output_streamed:
        return _cut(window, rows)
    input_row, output_row = window.input_columns * input_pitch, window.output_columns * output_pitch
    # The output of a stripe must start at an aligned offset of its tensor.
    step = ALIGNMENT_BYTES // math.gcd(ALIGNMENT_BYTES, output_row)

    def needed(height: int) -> int:
        extent = (height - 1) * window.stride_rows + _reach(window)
        # Beginning and end of what is loaded are aligned down and up.
        in_bytes = _aligned(min(extent, window.input_rows) * input_row + ALIGNMENT_BYTES)
        out_bytes = _aligned(height * output_row) if is_output_streamed else 0
        buffers = 1 if height >= rows else 2
        return buffers * (streamed_inputs * in_bytes + out_bytes)

    heights = [*range(step, rows, step), rows]
    fitting = [height for height in heights if needed(height) <= free_bytes]
    if not fitting:
        return None
    moved = streamed_inputs * window.input_rows * input_row
    moved += rows * output_row if is_output_streamed else 0
    count = -(-rows // fitting[-1])
    while count < min(WANTED_STRIPES, rows) and weight_bytes * count < moved:
        count += 1
    height = math.ceil(math.ceil(rows / count) / step) * step
    return _cut(window, min(height, fitting[-1]))


def _reach(window: Window) -> int:
    return (window.kernel_rows - 1) * window.dilation_rows + 1


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _cut(window: Window, height: int) -> list[Stripe]:
    found = []
    for first in range(0, window.output_rows, height):
        count = min(height, window.output_rows - first)
        top = first * window.stride_rows - window.pad_top
        bottom = top + (count - 1) * window.stride_rows + _reach(window)
        start = min(max(top, 0), window.input_rows - 1)
        end = min(max(bottom, start + 1), window.input_rows)
        found.append(Stripe(first, count, start, end - start))
    return found
