"""Fixed-point arithmetic of activation functions, defined once, in numpy.

Notes
-----
Ref: gemmlowp fixedpoint.h (logistic, tanh);
tensorflow/lite/kernels/internal/reference/hard_swish.h in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.numerics.requantization import (
    INT32_MAX,
    INT32_MIN,
    exp_on_negative_values,
    half_sum_reciprocal,
    rounding_divide_by_pot,
)

__all__ = ["HardSwishScale", "hard_swish", "logistic", "tanh"]

Int64s = NDArray[np.int64]

_INT16_MIN, _INT16_MAX = -(2**15), 2**15 - 1


def logistic(x: ArrayLike) -> Int64s:
    """Return ``1 / (1 + exp(-x))`` in Q0.31 for ``x`` in Q4.27.

    Parameters
    ----------
    x : array_like of int32
        -2**31 + 1 to 2**31 - 1.
    """
    x64 = np.asarray(x, np.int64)
    doubled = half_sum_reciprocal(exp_on_negative_values(-np.abs(x64), 4)) << 1
    of_magnitude = np.clip(doubled, INT32_MIN, INT32_MAX)
    return np.where(x64 > 0, of_magnitude, np.where(x64 < 0, INT32_MAX - of_magnitude, 1 << 30))


def tanh(x: ArrayLike) -> Int64s:
    """Return ``tanh(x)`` in Q0.31 for ``x`` in Q4.27.

    Parameters
    ----------
    x : array_like of int32
        -2**31 + 1 to 2**31 - 1.
    """
    x64 = np.asarray(x, np.int64)
    # exp(-2 |x|): the same bits with the point one place further right.
    minus_one = half_sum_reciprocal(exp_on_negative_values(-np.abs(x64), 5)) - (1 << 29)
    magnitude: Int64s = np.clip(minus_one << 2, INT32_MIN, INT32_MAX)
    return np.where(x64 < 0, -magnitude, np.where(x64 > 0, magnitude, 0))


@dataclass(frozen=True)
class HardSwishScale:
    """``multiplier * 2**(exponent - 15)``.

    Parameters
    ----------
    multiplier : int
        0 to 2**15 - 1.
    exponent : int
        -15 to 30.
    """

    multiplier: int
    exponent: int


def hard_swish(x: ArrayLike, output: HardSwishScale, reluish: HardSwishScale) -> Int64s:
    """Return ``x * relu6(x + 3) / 6`` for int8 numbers without their zero point.

    Parameters
    ----------
    x : array_like of int
        -255 to 255.
    output : HardSwishScale
        1/128 of the input's scale / the output's; its exponent is 0 or less.
    reluish : HardSwishScale
        1/128 of the input's scale / (3 / 2**15).

    Returns
    -------
    ndarray of int64
        int16 range, without the output's zero point.
    """
    raised = np.asarray(x, np.int64) << 7
    preshift = _rounding_high_mul(raised, output.multiplier)
    gate = raised
    # The last place of a left shift comes after the product: only there may it saturate.
    if reluish.exponent > 0:
        gate = _saturate(gate << (reluish.exponent - 1))
    gate = _rounding_high_mul(gate, reluish.multiplier)
    if reluish.exponent > 0:
        gate = _saturate(gate << 1)
    gate = rounding_divide_by_pot(gate, max(-reluish.exponent, 0))
    gate = (gate + (1 << 15)) >> 1
    # Towards zero: rounded, it would add to the bias of the products above.
    products = gate * preshift
    gated = np.sign(products) * (np.abs(products) >> 15)
    return rounding_divide_by_pot(gated, -output.exponent)


def _saturate(x: Int64s) -> Int64s:
    return np.clip(x, _INT16_MIN, _INT16_MAX)


def _rounding_high_mul(a: Int64s, b: int) -> Int64s:
    """Return ``round(a * b / 2**15)``, ties towards plus infinity; a and b are int16, b >= 0."""
    return (a * b + (1 << 14)) >> 15
