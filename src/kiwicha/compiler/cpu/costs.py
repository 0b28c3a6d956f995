"""What steps of the CPU cost, in cycles.

Beside an engine, that is; the instruction tier has one multiplier there. ``nox -s costs`` measures
`COSTS` on the simulated system, prints them, and says how far they are off. Where operands meet at
one place of the data cache, or strides reach over more bytes than it holds, a step takes longer.
"""

import math
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from kiwicha.contract.cfu import LANES
from kiwicha.contract.engine import TABLE_ENTRIES
from kiwicha.contract.layout import Struct
from kiwicha.contract.program import (
    ArgMax,
    Conv,
    Copy,
    Elementwise,
    Kernel,
    Lookup,
    Mean,
    Pool,
    Quantize,
    ResizeBilinear,
    Softmax,
)
from kiwicha.program.image import Step

__all__ = ["COSTS", "Cost", "Work", "cpu_cycles", "work_of"]

SOFTMAX_CYCLES = 680
"""What SOFTMAX takes for each row, and in `SOFTMAX_ENTRY_CYCLES` for each entry of it; measured for
short rows."""
SOFTMAX_ENTRY_CYCLES = 100
SOFTMAX_LONG_ENTRY_CYCLES = 43
"""The same in rows of more entries than int8 has values, which have a table of outputs; measured
for 1001 entries."""
COPY_RUN_CYCLES = 25
"""What COPY takes for each run, and in `COPY_BYTE_CYCLES` for each byte; stores bound it. Measured
in the detector of the public models, whose head joins runs of 12 to 546 bytes."""
COPY_BYTE_CYCLES = 4.6
LOOKUP_CYCLES = 400
"""What LOOKUP takes, and in `LOOKUP_BYTE_CYCLES` for each byte; measured there, too."""
LOOKUP_BYTE_CYCLES = 17.2
CUSTOM_CYCLES = 3000
"""Assumed for a custom operator."""


@dataclass(frozen=True)
class Work:
    """What a step does.

    Parameters
    ----------
    outputs : int
        Elements of its output.
    units : int
        Multiply-accumulates of convolutions, elements that pools and reductions read, rows of
        element-wise kernels, pixels of a resized image.
    extra : int
        Kernel positions that portable convolutions visit, bytes of windows that SIMD_CONV copies,
        multiply-accumulates of pixels that SIMD kernels compute singly, outputs in float32.
    """

    outputs: int
    units: int = 0
    extra: int = 0


@dataclass(frozen=True)
class Cost:
    """Cycles of a kernel: for a step, and for each of its `Work`."""

    step: float
    output: float
    unit: float = 0
    extra: float = 0


COSTS: dict[Kernel, Cost] = {
    Kernel.CONV: Cost(step=1430.0, output=105.0, unit=16.1, extra=32.9),
    Kernel.DEPTHWISE_CONV: Cost(step=1250.0, output=107.0, unit=43.4, extra=11.5),
    Kernel.FULLY_CONNECTED: Cost(step=655.0, output=131.0, unit=17.7, extra=0.0),
    Kernel.AVERAGE_POOL: Cost(step=482.0, output=165.0, unit=24.8, extra=0.0),
    Kernel.MAX_POOL: Cost(step=554.0, output=98.5, unit=24.5, extra=0.0),
    Kernel.ADD: Cost(step=423.0, output=195.0, unit=73.8, extra=0.0),
    Kernel.SUB: Cost(step=300.0, output=200.0, unit=51.7, extra=0.0),
    Kernel.MUL: Cost(step=0.0, output=81.0, unit=78.5, extra=0.0),
    Kernel.MEAN: Cost(step=1440.0, output=84.4, unit=42.9, extra=0.0),
    Kernel.RESIZE_BILINEAR: Cost(step=0.0, output=148.0, unit=113.0, extra=8140.0),
    Kernel.TRANSPOSE_CONV: Cost(step=0.0, output=141.0, unit=16.4, extra=91.5),
    Kernel.QUANTIZE: Cost(step=521.0, output=138.0, unit=0.0, extra=0.0),
    Kernel.MINIMUM: Cost(step=0.0, output=34.6, unit=95.1, extra=0.0),
    Kernel.MAXIMUM: Cost(step=0.0, output=36.9, unit=73.8, extra=0.0),
    Kernel.PRELU: Cost(step=1800.0, output=72.6, unit=117.0, extra=0.0),
    Kernel.REDUCE_MAX: Cost(step=1600.0, output=46.6, unit=44.2, extra=0.0),
    Kernel.ARG_MAX: Cost(step=662.0, output=0.0, unit=15.9, extra=0.0),
    Kernel.SIMD_CONV_1X1: Cost(step=1030.0, output=21.0, unit=1.21, extra=2.18),
    Kernel.SIMD_CONV: Cost(step=5760.0, output=5.84, unit=2.17, extra=28.2),
    Kernel.SIMD_DEPTHWISE_CONV: Cost(step=693.0, output=25.6, unit=4.37, extra=0.0),
    Kernel.SIMD_FULLY_CONNECTED: Cost(step=622.0, output=35.8, unit=1.26, extra=2.94),
    Kernel.SIMD_ADD: Cost(step=411.0, output=75.6, unit=1.52, extra=0.0),
    Kernel.SIMD_MAX_POOL: Cost(step=788.0, output=10.2, unit=3.16, extra=0.0),
}
"""Of all kernels but SOFTMAX, COPY, LOOKUP and custom operators."""


def cpu_cycles(step: Step) -> int:
    """Return the predicted cycles of a step of the CPU."""
    params = step.params
    if isinstance(params, Softmax):
        entry = SOFTMAX_LONG_ENTRY_CYCLES if params.depth > TABLE_ENTRIES else SOFTMAX_ENTRY_CYCLES
        return params.rows * (SOFTMAX_CYCLES + entry * params.depth)
    if isinstance(params, Copy):
        run = COPY_RUN_CYCLES + COPY_BYTE_CYCLES * params.run_bytes
        return round(math.prod(params.shape) * run)
    if isinstance(params, Lookup):
        return round(LOOKUP_CYCLES + LOOKUP_BYTE_CYCLES * params.input.bytes)
    if step.kernel is Kernel.CUSTOM:
        return CUSTOM_CYCLES
    cost, work = COSTS[step.kernel], work_of(step)
    return round(
        cost.step + cost.output * work.outputs + cost.unit * work.units + cost.extra * work.extra
    )


def work_of(step: Step) -> Work:
    """Return what a step does whose kernel is in `COSTS`."""
    return _work(step.params, step.kernel)


@singledispatch
def _work(params: Struct, kernel: Kernel) -> Work:
    raise TypeError(f"a step must have a kernel of the CPU, not {kernel.name}")


@_work.register
def _(p: Conv, kernel: Kernel) -> Work:
    outputs = p.batches * p.output_height * p.output_width * p.output_channels
    # Seen from its inputs a transposed convolution is one: each of them meets a window of outputs.
    way = -1 if kernel is Kernel.TRANSPOSE_CONV else 1
    heights = (p.output_height, p.input_height)[::way]
    widths = (p.output_width, p.input_width)[::way]
    row = p.kernel_height, p.stride_height, p.dilation_height, p.pad_top
    column = p.kernel_width, p.stride_width, p.dilation_width, p.pad_left
    rows, columns = _taps(heights, *row), _taps(widths, *column)
    if kernel is Kernel.SIMD_DEPTHWISE_CONV:
        width = _up(p.output_width) * p.kernel_width
        return Work(outputs, p.batches * rows * width * p.output_channels)
    if kernel.name.startswith("SIMD"):
        window = _up(p.kernel_height * p.kernel_width * p.input_channels)
        pixels = outputs // p.output_channels
        macs = window * _up(p.output_channels)
        if kernel is not Kernel.SIMD_CONV:
            return Work(outputs, pixels // LANES * LANES * macs, pixels % LANES * macs)
        is_in_place = p.input_channels % LANES == 0 and p.dilation_width == 1
        return Work(outputs, pixels * macs, 0 if is_in_place else pixels * window)
    channels = p.batches * p.output_channels
    depth = 1 if kernel is Kernel.DEPTHWISE_CONV else p.input_channels
    visited = channels * rows * p.output_width * p.kernel_width
    return Work(outputs, channels * rows * columns * depth, visited)


@_work.register
def _(p: Pool, kernel: Kernel) -> Work:
    channels = p.batches * p.channels
    rows = p.kernel_height, p.stride_height, 1, p.pad_top
    columns = p.kernel_width, p.stride_width, 1, p.pad_left
    reads = _taps((p.output_height, p.input_height), *rows)
    reads *= _taps((p.output_width, p.input_width), *columns)
    return Work(channels * p.output_height * p.output_width, channels * reads)


@_work.register
def _(p: Elementwise, kernel: Kernel) -> Work:
    return Work(math.prod(p.shape), math.prod(p.shape[:-1]))


@_work.register
def _(p: Mean, kernel: Kernel) -> Work:
    return Work(p.output.bytes, p.input.bytes)


@_work.register
def _(p: ArgMax, kernel: Kernel) -> Work:
    return Work(p.outer * p.inner, p.input.bytes)


@_work.register
def _(p: Quantize, kernel: Kernel) -> Work:
    return Work(p.output.bytes)


@_work.register
def _(p: ResizeBilinear, kernel: Kernel) -> Work:
    outputs = p.output.bytes
    return Work(outputs, outputs // p.channels, outputs if p.is_float else 0)


def _taps(sizes: tuple[int, ...], kernel: int, stride: int, dilation: int, pad: int) -> int:
    """Return how many elements of one dimension all windows see, given the windows and elements."""
    outputs, size = sizes
    starts = np.arange(outputs) * stride - pad
    first = np.maximum(-(starts // dilation), 0)
    end = np.minimum((size - 1 - starts) // dilation + 1, kernel)
    return int(np.maximum(end - first, 0).sum())


def _up(count: int) -> int:
    """Return a count rounded up to the lanes of the instruction tier."""
    return -(-count // LANES) * LANES
