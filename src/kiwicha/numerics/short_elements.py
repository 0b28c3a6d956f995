"""Operators of int16 number by number, as SHORT_ELEMENTS jobs of the engine compute them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.contract.short_elements import FUNCTION_BITS, OPERAND_SHIFT, ShortOperator
from kiwicha.numerics.requantization import (
    multiply_by_quantized_multiplier,
    requantize_to_shorts,
    wrap_int32,
)
from kiwicha.numerics.short_activations import scaled_argument, short_logistic, short_tanh

__all__ = ["IDENTITY", "ElementScales", "short_elements"]

Int64s = NDArray[np.int64]
Scale = tuple[int, int]
"""A multiplier, and a shift, positive to the left."""
IDENTITY: Scale = (1 << 30, 1)
"""The scale that changes nothing."""


@dataclass(frozen=True)
class ElementScales:
    """Scales of an operator, as in `kiwicha.contract.short_elements.EngineShortElements`.

    Parameters
    ----------
    first, second, output : (int, int)
        Multiplier and shift.
    clamp : (int, int)
        Smallest and largest upper byte.
    """

    first: Scale = (0, 0)
    second: Scale = (0, 0)
    output: Scale = IDENTITY
    clamp: tuple[int, int] = (-128, 127)


def short_elements(
    operator: ShortOperator, scales: ElementScales, first: ArrayLike, second: ArrayLike = 0
) -> Int64s:
    """Return the results, int16, of numbers of one tensor or of two.

    Parameters
    ----------
    operator : ShortOperator
        What is computed. MAX: the last dimension is a window.
    scales : ElementScales
        Its scales.
    first, second : array_like of int16
        The numbers.
    """
    a, b = (np.asarray(numbers, np.int64) for numbers in (first, second))
    multiplier, shift = scales.output
    if operator in {ShortOperator.ADD, ShortOperator.SUB}:
        a, b = (
            multiply_by_quantized_multiplier(numbers << OPERAND_SHIFT, *scale)
            for numbers, scale in ((a, scales.first), (b, scales.second))
        )
        values = wrap_int32(a + b if operator is ShortOperator.ADD else a - b)
    elif operator is ShortOperator.MUL:
        values = a * b
    elif operator is ShortOperator.MAX:
        values = a.max(axis=-1)
    elif operator is ShortOperator.LEAKY_RELU:
        low, high = scales.clamp
        kept, leaked = (
            requantize_to_shorts(a, *scale, low, high) for scale in (scales.output, scales.second)
        )
        return np.where(a >= 0, kept, leaked)
    else:
        function = short_tanh if operator is ShortOperator.TANH else short_logistic
        values = function(scaled_argument(a, scales.first[0], FUNCTION_BITS))
    return requantize_to_shorts(values, multiplier, shift, *scales.clamp)
