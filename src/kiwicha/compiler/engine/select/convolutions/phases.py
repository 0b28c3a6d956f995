"""Transposed convolutions: a convolution for each phase of their strides.

Outputs that are a stride apart read the input through the same taps of the kernel. So those of a
phase are a convolution without strides, of which a job writes every so many-th row and column.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import WINDOW_LIMITS, exceeded, limit, require
from kiwicha.compiler.engine.ir.operations import DividedOperation, Piece
from kiwicha.compiler.engine.ir.window import Window, padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer, convolution
from kiwicha.contract.engine import MAX_U16, OUTPUT_BYTES

__all__ = ["PHASE_LIMITS", "Phase", "phases_of", "transposed_convolution"]


@dataclasses.dataclass(frozen=True, eq=False)
class Phase:
    """Outputs that a convolution without strides gives.

    Parameters
    ----------
    rows : range
        Output rows, counted from the first one of their image.
    columns : range or None
        Output columns; None if it is all of them.
    window : Window
        Of that convolution.
    weights : int16 [O, H, W, I]
        Its own.
    """

    rows: range
    columns: range | None
    window: Window
    weights: NDArray[np.int16]


@dataclasses.dataclass(frozen=True)
class _AxisPhase:
    """Outputs along one axis that are a stride apart.

    Parameters
    ----------
    outputs : range
        Which they are.
    taps : list of int
        Places in the kernel, in the order of the inputs that they meet.
    pad : int
        Inputs before the first one that the first output meets; less than 0 if that is behind.
    """

    outputs: range
    taps: list[int]
    pad: int


@limit("TRANSPOSE_CONV", most=MAX_U16, whole=OUTPUT_BYTES)
def phase_bytes(layer: WeightedLayer | Convolution) -> str | None:
    """A stride of columns of the output is up to {most} bytes, channels rounded up to {whole}."""
    size = layer.window.stride_columns * padded(layer.output_channels)
    return exceeded(size, MAX_U16, "bytes from a column of a phase to the next")


PHASE_LIMITS = (phase_bytes,)
"""Limits of transposed convolutions besides those of windows."""


def transposed_convolution(layer: WeightedLayer, weights: NDArray[np.int16]) -> DividedOperation:
    """Return the transposed convolution with weights [O, H, W, I], in pieces of any length.

    Raises
    ------
    BrokenLimitError
        If a number does not fit.
    """
    require(WINDOW_LIMITS, layer)
    require(PHASE_LIMITS, layer)
    return DividedOperation(
        position=layer.position,
        inputs=(layer.input,),
        output=layer.output,
        window=layer.window,
        output_channels=layer.output_channels,
        clamp=layer.clamp,
        pieces=tuple(_pieces(layer, weights)),
    )


def _pieces(layer: WeightedLayer, weights: NDArray[np.int16]) -> Iterator[Piece]:
    for phase in phases_of(layer.window, weights):
        part = dataclasses.replace(layer, window=phase.window)
        yield Piece(
            rows=phase.rows,
            operation=convolution(part, phase.weights),
            columns=phase.columns,
        )


def phases_of(window: Window, weights: NDArray[np.int16]) -> Iterator[Phase]:
    """Yield the phases of a transposed convolution with weights [O, H, W, I]."""
    rows = _along(window.image_rows, window.stride_rows, window.kernel_rows, window.pad_top)
    columns = _along(
        window.output_columns, window.stride_columns, window.kernel_columns, window.pad_left
    )
    is_whole = window.stride_columns == 1
    for row in rows:
        for column in columns:
            # Where no tap is, the result is that of the bias alone.
            taps = weights[:, row.taps][:, :, column.taps]
            if not taps.size:
                taps = np.zeros((len(weights), 1, 1, weights.shape[3]), weights.dtype)
            part = dataclasses.replace(
                window,
                output_rows=len(row.outputs) * window.images,
                output_columns=len(column.outputs),
                kernel_rows=taps.shape[1],
                kernel_columns=taps.shape[2],
                stride_rows=1,
                stride_columns=1,
                pad_top=row.pad,
                pad_left=column.pad,
                is_transposed=False,
            )
            yield Phase(row.outputs, None if is_whole else column.outputs, part, taps)


def _along(outputs: int, stride: int, kernel: int, pad: int) -> list[_AxisPhase]:
    """Return the phases of an axis that there are outputs of."""
    phases = []
    for first in range(min(stride, outputs)):
        # Output ``first`` meets tap ``tap`` at input 0 if ``first + pad`` is ``tap``.
        tap = (first + pad) % stride
        taps = list(range(tap, kernel, stride))[::-1]
        phases.append(
            _AxisPhase(range(first, outputs, stride), taps, len(taps) - 1 - (first + pad) // stride)
        )
    return phases
