"""Images that become larger by a whole factor: convolutions that interpolate between pixels.

Outputs that are a factor apart lie equally between two rows and two columns of the input, so they
are a convolution without strides, of which a job writes every so many-th row and column.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import exceeded, limit, require
from kiwicha.compiler.engine.ir.operations import (
    DividedOperation,
    JobOperation,
    Operation,
    Piece,
)
from kiwicha.compiler.engine.ir.window import Window, padded
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    depthwise_convolution,
)
from kiwicha.compiler.engine.select.reductions.sum_parts import uniform
from kiwicha.compiler.engine.select.resize.dimensions import Dimension
from kiwicha.compiler.engine.select.resize.resized_image import ResizedImage
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.compiler.tflite.interpolation import ONE
from kiwicha.contract.engine import MAX_U16
from kiwicha.kernels.resize_bilinear import Blend, ResizeBilinear

__all__ = ["INTERPOLATION_LIMITS", "interpolation"]

MAX_FACTOR = 16
"""From rows to output rows: products of weights have 8 bits then."""
MAX_WEIGHT = 2**8 - 1
_OPERATOR = "RESIZE_BILINEAR"


@limit(_OPERATOR, most=ONE)
def resize_weights(p: ResizeBilinear) -> str | None:
    """Phase by phase, weights are multiples of 1/{most}; of uint8 they may be any float32."""
    return "has float32 weights" if p.blend == Blend.FLOAT else None


@limit(_OPERATOR, most=MAX_FACTOR)
def resize_factors(item: tuple[Dimension, Dimension]) -> str | None:
    """Phase by phase, outputs some whole rows and columns apart have the same weights: 1 to {most}.

    Those at the edges of the image are others. Any other size takes two passes.
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
    """Phase by phase, products of weights are in powers of two, their numerators up to {most}.

    So they are in images that become 2, 4, 8 or 16 times larger; with half_pixel_centers up to 8.
    """
    return exceeded(int(weights.max()), MAX_WEIGHT, "as the numerator of a weight")


@limit(_OPERATOR, most=MAX_U16)
def resize_columns(size: int) -> str | None:
    """Phase by phase, the columns for each of the input have up to {most} bytes, in whole words."""
    return exceeded(size, MAX_U16, "bytes of columns for each of the input")


INTERPOLATION_LIMITS = (
    resize_weights,
    resize_factors,
    resize_products,
    resize_columns,
)
"""Limits of images that become larger."""


def interpolation(layer: Layer, position: int) -> Operation:
    """Return a RESIZE_BILINEAR, in a piece for all phases of rows and columns.

    Parameters
    ----------
    layer : Layer
        The layer.
    position : int
        Its position.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    p: ResizeBilinear = layer.params
    require([resize_weights], p)
    rows = Dimension.of(layer.constants["rows"], p.input_height)
    columns = Dimension.of(layer.constants["columns"], p.input_width)
    require([resize_factors], (rows, columns))
    image = ResizedImage(position, layer, rows, columns)
    assert rows.factor is not None
    assert columns.factor is not None
    require([resize_columns], columns.factor * padded(p.channels))
    row_phases, column_phases = rows.phases(rows.factor), columns.phases(columns.factor)
    window = _whole_window(image, rows.factor)
    known: dict[object, JobOperation] = {}

    def pieces() -> Iterator[Piece]:
        for row, column in itertools.product(row_phases, column_phases):
            part = dataclasses.replace(
                window,
                output_rows=len(row.outputs) * p.batches,
                output_columns=len(column.outputs),
                kernel_rows=len(row.weights),
                kernel_columns=len(column.weights),
                stride_rows=1,
                pad_top=row.pad,
                pad_left=column.pad,
                is_transposed=False,
            )
            weights = row.weights[:, None] * column.weights
            key = part, weights.tobytes()
            if key not in known:
                known[key] = _phase(image, weights, _layer(image, part))
            yield Piece(rows=row.outputs, operation=known[key], columns=column.outputs)

    return DividedOperation(
        position=position,
        inputs=(layer.tensors["input"],),
        output=layer.tensors["output"],
        window=window,
        output_channels=p.channels,
        clamp=(-128, 127),
        pieces=tuple(pieces()),
    )


def _whole_window(image: ResizedImage, factor: int) -> Window:
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


def _layer(image: ResizedImage, window: Window) -> WeightedLayer:
    """Return the layer of a piece without its parameters.

    Weights add up to one, so zero points stay as they are.
    """
    return WeightedLayer(
        position=image.position,
        input=image.layer.tensors["input"],
        output=image.layer.tensors["output"],
        window=window,
        parameters=uniform(0, UNIT_SCALE),
        input_zero_point=0,
        output_zero_point=0,
        clamp=(-128, 127),
        weight_zero_point=-128,
    )


def _phase(image: ResizedImage, weights: NDArray[np.int64], layer: WeightedLayer) -> JobOperation:
    """Return the depthwise convolution of a phase: weights [rows, columns] without common factors.

    It divides sums by a power of two. Half goes up. With a multiplier that is the least bit larger
    it goes away from zero.
    """
    one = image.rows.one * image.columns.one
    common = math.gcd(one, *weights.ravel().tolist())
    taps = weights // common
    require([resize_products], taps)
    channels, bits = image.params.channels, (one // common).bit_length() - 1
    scale = UNIT_SCALE
    if bits:
        scale = (1 << (31 - bits)) + (1 if image.params.offset == 0 else 0), 0
    repeated = np.repeat(taps[:, :, None], channels, axis=2).astype(np.int16)
    parameters = uniform(channels, scale)
    return depthwise_convolution(dataclasses.replace(layer, parameters=parameters), repeated)
