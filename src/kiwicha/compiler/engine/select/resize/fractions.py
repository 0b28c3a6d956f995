"""Weights of images as fractions: also those in float32, where outputs are sure to be the same.

Float32 weights are nearly fractions of a small denominator. If that is odd, no sum of products lies
halfway between two outputs, and each sum so far from there that nothing rounded on the way matters.
"""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import Limit, limit, require
from kiwicha.compiler.engine.select.resize.dimensions import Dimension
from kiwicha.compiler.lower.network import Layer, Values
from kiwicha.compiler.tflite.interpolation import EXPONENT_BITS, PRECISION
from kiwicha.kernels.resize_bilinear import Blend, ResizeBilinear

__all__ = ["FRACTION_LIMITS", "dimensions"]

_OPERATOR = "RESIZE_BILINEAR"
MAX_DENOMINATOR = 2**10 - 1
"""Of products of two weights: then sums are 2**-11 from halfway between two outputs, at least."""
_LARGEST_BYTE = 255
_ROUNDED = 2.0**-12
"""What is rounded off on the way in float32, at most: less than half of it by four products of two
roundings each, and less than half by sums of up to 256, also where an image goes on behind its
edge."""


@limit(_OPERATOR, most=MAX_DENOMINATOR)
def resize_fractions(found: tuple[Dimension, Dimension] | None) -> str | None:
    """In two passes, products of float32 weights are nearly in 1/n, with an odd n up to {most}.

    So they are where three or five rows and columns come of one, but not six. Then no output
    depends on how float32 is rounded.
    """
    if found is None:
        return "has float32 weights, and outputs that depend on how sums are rounded"
    return None


FRACTION_LIMITS: tuple[Limit[tuple[Dimension, Dimension] | None], ...] = (resize_fractions,)
"""Limits of the weights of images in two passes."""


def dimensions(layer: Layer) -> tuple[Dimension, Dimension]:
    """Return rows and columns of a RESIZE_BILINEAR, with weights as small as can be.

    Raises
    ------
    BrokenLimitError
        If outputs could be others.
    """
    p: ResizeBilinear = layer.params
    tables = layer.constants["rows"], layer.constants["columns"]
    sizes = p.input_height, p.input_width
    if p.blend == Blend.FLOAT:
        found = _exact(tables, sizes)
        require(FRACTION_LIMITS, found)
        assert found is not None
        return found
    rows, columns = (
        _reduced(Dimension.of(table, size)) for table, size in zip(tables, sizes, strict=True)
    )
    return rows, columns


def _reduced(dimension: Dimension) -> Dimension:
    """Return a dimension without what all weights have in common."""
    common = math.gcd(dimension.one, *dimension.weights.ravel().tolist())
    weights = dimension.weights // common
    assert weights.min() >= 0
    return dataclasses.replace(dimension, weights=weights, one=dimension.one // common)


def _exact(
    tables: tuple[Values, Values], sizes: tuple[int, int]
) -> tuple[Dimension, Dimension] | None:
    """Return dimensions of float32 weights; None if an output could be another one than in these.

    The sum of products of fractions lies at least half of one by the product of the denominators
    from where it would be rounded to another output.
    """
    rows, columns = (_nearest(table, size) for table, size in zip(tables, sizes, strict=True))
    if rows is None or columns is None:
        return None
    whole = rows[0].one * columns[0].one
    deviation = _ROUNDED + _LARGEST_BYTE * (rows[1] + columns[1])
    if whole > MAX_DENOMINATOR or deviation >= 1 / (2 * whole):
        return None
    return rows[0], columns[0]


def _nearest(table: Values, inputs: int) -> tuple[Dimension, float] | None:
    """Return a dimension with fractions of an odd denominator, and by how much weights are off.

    It is the smallest one whose fractions are near enough; None if there is none.
    """
    pixels = table[:, :2].astype(np.int64)
    # Of two equal pixels weights do not matter.
    second = np.where(pixels[:, 0] == pixels[:, 1], 0.0, _second_weights(table))
    for one in range(1, MAX_DENOMINATOR + 1, 2):
        upper = np.round(second * one)
        off = float(np.abs(second - upper / one).max())
        if off * _LARGEST_BYTE < 1 / (4 * one):
            weights = np.stack([one - upper, upper], axis=1).astype(np.int64)
            return Dimension.of(np.concatenate([pixels, weights], axis=1), inputs), off
    return None


def _second_weights(table: Values) -> NDArray[np.float64]:
    """Return the second of the float32 weights, [outputs]."""
    stored = table[:, 3].astype(np.int64)
    exponents = stored & ((1 << EXPONENT_BITS) - 1)
    significands = (stored >> EXPONENT_BITS).astype(np.float64)
    found: NDArray[np.float64] = np.ldexp(significands, 1 - PRECISION - exponents)
    return found
