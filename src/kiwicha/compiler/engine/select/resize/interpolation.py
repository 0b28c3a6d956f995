"""Images that become larger by a whole factor: convolutions that interpolate between pixels.

Outputs that are a factor apart lie equally between two rows and two columns of the input, so they
are a convolution without strides, of which a job writes every so many-th row and column. Where
there would be too many of these jobs one computes neighbouring columns as if they were channels.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import exceeded, limit, require
from kiwicha.compiler.engine.ir.operations import DividedOperation, JobOperation, Piece
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.window import Window, padded
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    convolution,
    depthwise_convolution,
)
from kiwicha.compiler.engine.select.resize.dimensions import Dimension, Run
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.compiler.tflite.interpolation import ONE
from kiwicha.contract.engine import MAX_U16
from kiwicha.kernels.resize_bilinear import Blend, ResizeBilinear
from kiwicha.program.weight_streams import Parameters

__all__ = ["INTERPOLATION_LIMITS", "interpolations"]

MAX_FACTOR = 16
"""From rows to output rows: products of weights have 8 bits then."""
MAX_WEIGHT = 2**8 - 1
MAX_GROUP_CHANNELS = 64
"""In groups of neighbours, most weights of which are 0: with more the CPU is as fast."""
_OPERATOR = "RESIZE_BILINEAR"


@limit(_OPERATOR, most=ONE)
def resize_weights(p: ResizeBilinear) -> str | None:
    """Weights are multiples of 1/{most}; those of a uint8 image may be any float32."""
    return "has float32 weights" if p.blend == Blend.FLOAT else None


@limit(_OPERATOR, most=MAX_FACTOR)
def resize_factors(item: tuple[Dimension, Dimension]) -> str | None:
    """Outputs a whole number of rows, and of columns, apart have the same weights: 1 to {most}.

    Those at the edges of the image are others.
    """
    for dimension, what in zip(item, ("rows", "columns"), strict=True):
        factor = dimension.factor
        if factor is None:
            return (
                f"makes {dimension.outputs:,} {what} of {dimension.inputs:,}, whose weights do "
                "not repeat"
            )
        why = exceeded(factor, MAX_FACTOR, f"{what} for each of the input")
        if why is not None:
            return why
    return None


@limit(_OPERATOR, most=MAX_WEIGHT)
def resize_products(weights: NDArray[np.int64]) -> str | None:
    """A row's weight times a column's is a fraction in a power of two, its numerator up to {most}.

    So it is in images that become 2, 4, 8 or 16 times larger; with half_pixel_centers up to 8.
    """
    return exceeded(int(weights.max()), MAX_WEIGHT, "as the numerator of a weight")


@limit(_OPERATOR, most=MAX_U16)
def resize_columns(size: int) -> str | None:
    """The columns for each of the input have up to {most} bytes, channels rounded up."""
    return exceeded(size, MAX_U16, "bytes of columns for each of the input")


@limit(_OPERATOR, most=MAX_GROUP_CHANNELS)
def resize_channels(p: ResizeBilinear) -> str | None:
    """With so many phases that a list has no room for their jobs, there are up to {most} channels.

    Then a job computes neighbouring columns, with a weight for each channel of the input.
    """
    return exceeded(p.channels, MAX_GROUP_CHANNELS, "channels")


INTERPOLATION_LIMITS = (
    resize_weights,
    resize_factors,
    resize_products,
    resize_columns,
    resize_channels,
)
"""Limits of images that become larger."""


@dataclass(frozen=True)
class _Image:
    """An image that becomes larger, between rows and columns."""

    position: int
    layer: Layer
    rows: Dimension
    columns: Dimension

    @property
    def params(self) -> ResizeBilinear:
        """The kernel's parameters."""
        p: ResizeBilinear = self.layer.params
        return p


_Made = Callable[[_Image, NDArray[np.int64], WeightedLayer], JobOperation]


def interpolations(layer: Layer, position: int) -> Decision:
    """Return the forms of a RESIZE_BILINEAR, the one with the fastest jobs first.

    Parameters
    ----------
    layer : Layer
        The layer.
    position : int
        Its position.

    Raises
    ------
    BrokenLimitError
        If there is none.
    """
    p: ResizeBilinear = layer.params
    require([resize_weights], p)
    rows = Dimension.of(layer.constants["rows"], p.input_height)
    columns = Dimension.of(layer.constants["columns"], p.input_width)
    require([resize_factors], (rows, columns))
    image = _Image(position, layer, rows, columns)
    factor = columns.factor
    assert factor is not None
    require([resize_columns], factor * padded(p.channels))
    forms: tuple[tuple[str, Callable[[int], Iterable[Run]], _Made], ...] = (
        ("in phases of rows and columns", columns.phases, _of_channels),
        ("in phases of rows", columns.groups, _of_groups),
    )
    candidates, refusals = [], []
    for name, runs, made in forms:
        try:
            candidates.append(Candidate(name, _operation(image, list(runs(factor)), made)))
        except BrokenLimitError as error:
            refusals.append(Refusal(name, error.why))
    return Decision(tuple(candidates), tuple(refusals))


def _operation(image: _Image, columns: list[Run], made: _Made) -> DividedOperation:
    """Return the operation, in a piece for all phases of rows and runs of columns."""
    p, layer = image.params, image.layer
    factor = image.rows.factor
    assert factor is not None
    window = _whole_window(image, factor)
    known: dict[object, JobOperation] = {}

    def pieces() -> Iterator[Piece]:
        for row, column in itertools.product(image.rows.phases(factor), columns):
            part = dataclasses.replace(
                window,
                output_rows=len(row.outputs) * p.batches,
                output_columns=len(column.outputs),
                kernel_rows=row.weights.shape[1],
                kernel_columns=column.weights.shape[1],
                stride_rows=1,
                pad_top=row.pad,
                pad_left=column.pad,
                is_transposed=False,
            )
            weights = row.weights[0][:, None] * column.weights[:, None, :]
            key = part, weights.tobytes()
            if key not in known:
                known[key] = made(image, weights, _layer(image, part))
            yield Piece(rows=row.outputs, operation=known[key], columns=column.outputs)

    return DividedOperation(
        position=image.position,
        inputs=(layer.tensors["input"],),
        output=layer.tensors["output"],
        window=window,
        output_channels=p.channels,
        clamp=(-128, 127),
        pieces=tuple(pieces()),
    )


def _whole_window(image: _Image, factor: int) -> Window:
    """Return the geometry of all rows: each input reaches a window of outputs."""
    p = image.params
    numbers = np.arange(image.rows.outputs)
    first = image.rows.pixels.min(axis=1) * factor
    last = image.rows.pixels.max(axis=1) * factor
    above, below = int((last - numbers).max()), int((numbers - first).max())
    return Window(
        input_rows=p.batches * p.input_height,
        input_columns=p.input_width,
        channels=p.channels,
        output_rows=p.batches * p.output_height,
        output_columns=p.output_width,
        kernel_rows=above + 1 + below,
        stride_rows=factor,
        pad_top=above,
        images=p.batches,
        is_transposed=True,
    )


def _layer(image: _Image, window: Window) -> WeightedLayer:
    """Return the layer of a piece without its parameters.

    Weights add up to one, so zero points stay as they are.
    """
    return WeightedLayer(
        position=image.position,
        input=image.layer.tensors["input"],
        output=image.layer.tensors["output"],
        window=window,
        parameters=_parameters(np.zeros(0, np.int64), is_symmetric=True),
        input_zero_point=0,
        output_zero_point=0,
        clamp=(-128, 127),
        weight_zero_point=-128,
    )


def _parameters(bits: NDArray[np.int64], *, is_symmetric: bool) -> Parameters:
    """Return what divides sums by powers of two.

    Half goes up. With a multiplier that is the least bit larger it goes away from zero.
    """
    unit, shift = UNIT_SCALE
    more = 1 if is_symmetric else 0
    multiplier = np.where(bits == 0, unit, (1 << (31 - np.maximum(bits, 1))) + more)
    shifts = np.where(bits == 0, shift, 0)
    return Parameters(
        np.zeros(len(bits), np.int32), multiplier.astype(np.int32), shifts.astype(np.int32)
    )


def _reduced(image: _Image, weights: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[int]]:
    """Return weights [neighbours, rows, columns] without common factors, and bits of their sums."""
    bits = (image.rows.one * image.columns.one).bit_length() - 1
    found, left = np.empty_like(weights), []
    for number, taps in enumerate(weights):
        common = math.gcd(1 << bits, *taps.ravel().tolist())
        found[number] = taps // common
        left.append(bits - (common.bit_length() - 1))
    require([resize_products], found)
    return found, left


def _of_channels(image: _Image, weights: NDArray[np.int64], layer: WeightedLayer) -> JobOperation:
    """Return the depthwise convolution of a phase."""
    (taps,), (bits,) = _reduced(image, weights)
    channels = image.params.channels
    is_symmetric = image.params.offset == 0
    parameters = _parameters(np.full(channels, bits), is_symmetric=is_symmetric)
    repeated = np.repeat(taps[:, :, None], channels, axis=2).astype(np.int16)
    return depthwise_convolution(dataclasses.replace(layer, parameters=parameters), repeated)


def _of_groups(image: _Image, weights: NDArray[np.int64], layer: WeightedLayer) -> JobOperation:
    """Return the convolution whose output channels are those of neighbours."""
    require([resize_channels], image.params)
    reduced, bits = _reduced(image, weights)
    channels = image.params.channels
    pitch = padded(channels)
    outputs = (len(reduced) - 1) * pitch + channels
    full = np.zeros((len(reduced), pitch, *reduced.shape[1:], channels), np.int16)
    numbers = np.arange(channels)
    full[:, numbers, :, :, numbers] = reduced
    parameters = _parameters(
        np.repeat(bits, pitch)[:outputs], is_symmetric=image.params.offset == 0
    )
    return convolution(
        dataclasses.replace(layer, parameters=parameters),
        full.reshape(-1, *full.shape[2:])[:outputs],
    )
