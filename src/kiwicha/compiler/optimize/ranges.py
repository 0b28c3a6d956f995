"""What is proven about a layer's sums before it goes to the engine.

Bounds hold for every int8 input, so that narrow requantization and folded channels are exact.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import SUM_BITS
from kiwicha.numerics.requantization import INT32_MAX, INT32_MIN, requantize
from kiwicha.program.weight_streams import Parameters

__all__ = [
    "UNIT_SCALE",
    "SumRange",
    "constant_outputs",
    "exact_division",
    "fold_constant_channels",
    "is_narrow",
    "largest_sum",
    "narrow_channels",
    "sum_range",
]

SumRange = tuple[NDArray[np.int64], NDArray[np.int64]]
UNIT_SCALE = (2**30, 1)
"""Multiplier and shift that leave a small number as it is."""


def sum_range(
    weights: NDArray[np.int16], bias: NDArray[np.int32], input_zero_point: int
) -> SumRange:
    """Return the least and the largest sum of each channel, bias included.

    Parameters
    ----------
    weights : int16 [channels, taps]
        Each meets an input, or 0 outside the image.
    bias : int32 [channels]
        Added to the products.
    input_zero_point : int
        Subtracted from the inputs.
    """
    least, most = -128 - input_zero_point, 127 - input_zero_point
    above = np.maximum(weights, 0).sum(axis=1, dtype=np.int64)
    below = np.minimum(weights, 0).sum(axis=1, dtype=np.int64)
    return above * least + below * most + bias, above * most + below * least + bias


def largest_sum(weights: NDArray[np.int16], input_zero_point: int) -> int:
    """Return a bound of the size of any partial sum of products."""
    largest = max(128 + input_zero_point, 127 - input_zero_point)
    return int(np.abs(weights.astype(np.int64)).sum(axis=1).max(initial=0)) * largest


def is_narrow(sums: SumRange, shift: NDArray[np.int32]) -> bool:
    """Whether all sums, shifted left where ``shift`` is positive, have `SUM_BITS`."""
    return bool(narrow_channels(sums, shift).all())


def narrow_channels(sums: SumRange, shift: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return for each channel whether its sums are narrow, see `is_narrow`."""
    low, high = (_shifted(ends, shift) for ends in sums)
    limit = 1 << (SUM_BITS - 1)
    found: NDArray[np.bool_] = (low >= -limit) & (high < limit)
    return found


def _shifted(values: NDArray[np.int64], shift: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return shifted sums in double, which is exact enough to compare with powers of two."""
    shifted: NDArray[np.float64] = values.astype(np.float64) * 2.0 ** np.maximum(shift, 0)
    return shifted


def constant_outputs(
    weights: NDArray[np.int16],
    parameters: Parameters,
    input_zero_point: int,
    output_zero_point: int,
    clamp: tuple[int, int],
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which channels have the same output for all inputs, and that output.

    Requantization is monotonic where nothing wraps: if the least and the largest sum give one
    output, all sums do.

    Parameters
    ----------
    weights : int16 [channels, taps]
        Weights.
    parameters : Parameters
        Of the channels.
    input_zero_point, output_zero_point : int
        Zero points.
    clamp : tuple of int
        Smallest and largest output.
    """
    low, high = sum_range(weights, parameters.bias, input_zero_point)
    first, last = (
        requantize(
            ends.clip(INT32_MIN, INT32_MAX),
            parameters.multiplier,
            parameters.shift,
            output_zero_point,
            *clamp,
        )
        for ends in (low, high)
    )
    never_wraps = (_shifted(low, parameters.shift) >= INT32_MIN) & (
        _shifted(high, parameters.shift) <= INT32_MAX
    )
    is_constant = (first == last) & (never_wraps | (low == high) & _fits_int32(low))
    return is_constant, first


def fold_constant_channels(
    weights: NDArray[np.int16],
    parameters: Parameters,
    input_zero_point: int,
    output_zero_point: int,
    clamp: tuple[int, int],
) -> tuple[NDArray[np.int16], Parameters]:
    """Give channels whose output never changes small parameters and no weights.

    They often have absurd scales, which would ask for the wide mode.

    Parameters
    ----------
    weights : int16 [channels, taps]
        Weights.
    parameters : Parameters
        Of the channels.
    input_zero_point, output_zero_point : int
        Zero points.
    clamp : tuple of int
        Smallest and largest output.
    """
    is_constant, values = constant_outputs(
        weights, parameters, input_zero_point, output_zero_point, clamp
    )
    multiplier, shift = UNIT_SCALE
    return (
        np.where(is_constant[:, None], 0, weights).astype(np.int16),
        Parameters(
            np.where(is_constant, values - output_zero_point, parameters.bias).astype(np.int32),
            np.where(is_constant, multiplier, parameters.multiplier).astype(np.int32),
            np.where(is_constant, shift, parameters.shift).astype(np.int32),
        ),
    )


def _fits_int32(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    fits: NDArray[np.bool_] = (values >= INT32_MIN) & (values <= INT32_MAX)
    return fits


BYTE_BITS = 8
FEW_SUMS = 1024


@functools.lru_cache(maxsize=256)
def exact_division(
    count: int, offset: int, weight: int = 1, bits: int = BYTE_BITS
) -> tuple[int, int] | None:
    """Return a multiplier and a shift that divide sums of ``count`` numbers, halves away from zero.

    Parameters
    ----------
    count : int
        1 or more.
    offset : int
        Added to each number of the sum: 0 to 128.
    weight : int
        By what each of them is multiplied before, 1 or more.
    bits : int
        Of the numbers: 8 or 16.

    Returns
    -------
    tuple of int or None
        Proven for every sum of such numbers; None if there is none.

    Notes
    -----
    The requantizer rounds halves up. A multiplier a little above ``2**(31 - shift) / count`` moves
    them away from zero on both sides; the larger the shift, the less it moves other sums. With a
    negative shift it rounds twice, the second time halves away from zero: then it has all bits of
    the multiplier, but what is first rounded to a half must have been one. Of an odd number there
    are none, and a weight of 2 is needed.

    Neither the result nor the quotient falls where the sum rises. So it is enough to compare them
    at both sides of each step of the quotient, and at the ends.
    """
    values = 1 << bits
    low, high = (offset - values // 2) * count, (offset + values // 2 - 1) * count
    steps = np.arange(1, values + 1, dtype=np.int64) * count - count // 2
    sums = np.unique(np.concatenate([[low, 0, high], steps - 1, steps, -steps, 1 - steps]))
    sums = sums[(low <= sums) & (sums <= high)]
    expected = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
    most = weight * max(-low, high)
    divisor = weight * count
    # Most scales are wrong for some of these already.
    every = max(len(sums) // FEW_SUMS, 1)
    for shift in range(SUM_BITS - 1 - most.bit_length(), -divisor.bit_length(), -1):
        least = -(-(1 << (31 - shift)) // divisor)
        for multiplier in range(least, least + 3):
            if multiplier <= INT32_MAX and all(
                np.array_equal(
                    requantize(weight * sums[::step], multiplier, shift, 0, -values, values - 1),
                    expected[::step],
                )
                for step in {every: None, 1: None}
            ):
                return multiplier, shift
    return None
