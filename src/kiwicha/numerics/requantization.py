"""Integer arithmetic of quantized operators, defined once, in numpy.

The compiler derives parameters with it, the reference executor runs it, and gateware and firmware
are tested against it. TFLite rounds twice: first in the high multiply, then in the shift.

Notes
-----
Ref: TensorFlow Lite 8-bit quantization specification; tensorflow/lite/kernels/internal/common.cc
(MultiplyByQuantizedMultiplier) and quantization_util.cc (QuantizeMultiplier); gemmlowp fixedpoint.h
(SaturatingRoundingDoublingHighMul, RoundingDivideByPOT, exp_on_negative_values).
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "INT32_MAX",
    "INT32_MIN",
    "exp_on_negative_values",
    "half_sum_reciprocal",
    "multiply_by_quantized_multiplier",
    "quantize_multiplier",
    "requantize",
    "requantize_to_shorts",
    "rounding_divide_by_pot",
    "saturating_rounding_doubling_high_mul",
    "scaled_differences",
    "softmax_exponentials",
    "softmax_reciprocal",
    "wrap_int32",
]

INT32_MIN = -(2**31)
INT32_MAX = 2**31 - 1

Int64s = NDArray[np.int64]


def wrap_int32(x: ArrayLike) -> Int64s:
    """Return ``x`` modulo 2**32 as a signed 32-bit value, in int64."""
    return ((np.asarray(x, np.int64) + 2**31) & 0xFFFF_FFFF) - 2**31


def saturating_rounding_doubling_high_mul(a: ArrayLike, b: ArrayLike) -> Int64s:
    """Return ``round(a * b / 2**31)``, ties towards plus infinity, saturated.

    Parameters
    ----------
    a, b : array_like of int32
        Factors; ``-2**31 * -2**31`` gives 2**31 - 1.

    Returns
    -------
    ndarray of int64, int32 range
        The high half of the doubled product, rounded.

    Notes
    -----
    gemmlowp adds ``1 - 2**30`` to a negative product and truncates towards zero: the same result.
    """
    a64, b64 = np.asarray(a, np.int64), np.asarray(b, np.int64)
    high: Int64s = np.minimum((a64 * b64 + (1 << 30)) >> 31, INT32_MAX)
    return high


def rounding_divide_by_pot(x: ArrayLike, exponent: ArrayLike) -> Int64s:
    """Return ``x / 2**exponent`` rounded to nearest, ties away from zero.

    Parameters
    ----------
    x : array_like of int32
        Dividend.
    exponent : array_like of int
        0 to 31.
    """
    x64, bits = np.asarray(x, np.int64), np.asarray(exponent, np.int64)
    mask = (np.int64(1) << bits) - 1
    threshold = (mask >> 1) + (x64 < 0)
    return (x64 >> bits) + ((x64 & mask) > threshold)


def multiply_by_quantized_multiplier(
    x: ArrayLike, multiplier: ArrayLike, shift: ArrayLike
) -> Int64s:
    """Return ``x * multiplier * 2**(shift - 31)``, rounded twice.

    Parameters
    ----------
    x : array_like of int32
        Accumulators. ``x << shift`` wraps to 32 bits where a positive shift overflows.
    multiplier : array_like of int32
        0 to 2**31 - 1.
    shift : array_like of int
        -31 to 30; positive shifts left before the multiply.
    """
    shift64 = np.asarray(shift, np.int64)
    left = wrap_int32(np.asarray(x, np.int64) << np.maximum(shift64, 0))
    high = saturating_rounding_doubling_high_mul(left, multiplier)
    return rounding_divide_by_pot(high, np.maximum(-shift64, 0))


def requantize(
    accumulator: ArrayLike,
    multiplier: ArrayLike,
    shift: ArrayLike,
    output_offset: int,
    activation_min: int,
    activation_max: int,
) -> Int64s:
    """Return the int8 outputs for int32 accumulators: rescale, add the zero point, clamp.

    Parameters
    ----------
    accumulator : array_like of int32
        Sums, bias included.
    multiplier, shift : array_like
        As for `multiply_by_quantized_multiplier`; one for all or one per last dimension.
    output_offset : int
        Zero point of the output. The sum wraps to 32 bits, as in C.
    activation_min, activation_max : int
        Clamp, inside -128 to 127.
    """
    scaled = multiply_by_quantized_multiplier(accumulator, multiplier, shift)
    shifted = wrap_int32(scaled + output_offset)
    return np.clip(shifted, activation_min, activation_max)


def requantize_to_shorts(
    accumulator: ArrayLike,
    multiplier: ArrayLike,
    shift: ArrayLike,
    upper_min: int,
    upper_max: int,
) -> Int64s:
    """Return int16 outputs without a zero point: rescale, and clamp the upper byte.

    Parameters
    ----------
    accumulator, multiplier, shift : array_like
        As for `requantize`.
    upper_min, upper_max : int
        Smallest and largest upper byte, inside -128 to 127. Lower bytes are 0 to 255.
    """
    scaled = multiply_by_quantized_multiplier(accumulator, multiplier, shift)
    return np.clip(scaled, 256 * upper_min, 256 * upper_max + 255)


def quantize_multiplier(real: float) -> tuple[int, int]:
    """Return ``(multiplier, shift)`` with ``real = multiplier * 2**(shift - 31)``.

    Parameters
    ----------
    real : float
        0 or more.

    Returns
    -------
    multiplier : int
        2**30 to 2**31 - 1, or 0 where ``real`` is 0 or below about 2**-32.
    shift : int
        -31 or more; can exceed 30 for huge ``real``, which callers must refuse.

    Raises
    ------
    ValueError
        If ``real`` is negative or not finite.
    """
    if not math.isfinite(real) or real < 0:
        raise ValueError(f"a scale ratio must be finite and not negative, not {real}")
    if real == 0:
        return 0, 0
    mantissa, shift = math.frexp(real)
    fixed = math.floor(mantissa * 2**31 + 0.5)
    if fixed == 2**31:
        fixed //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    return fixed, shift


_EXP_FACTORS = tuple(
    # exp(-2**k) in Q0.31, for each bit k of the Q5.26 argument above a quarter
    (k, math.floor(math.exp(-(2.0**k)) * 2**31 + 0.5))
    for k in range(-2, 5)
)


def exp_on_negative_values(a: ArrayLike, integer_bits: int = 5) -> Int64s:
    """Return ``exp(a)`` in Q0.31 for ``a`` in Q5.26, at most 0.

    Parameters
    ----------
    a : array_like of int32
        Argument times 2**26, -2**31 to 0.
    integer_bits : int
        4 or 5: of the argument.

    Returns
    -------
    ndarray of int64
        0 to 2**31 - 1.
    """
    fraction_bits = 31 - integer_bits
    x = np.asarray(a, np.int64)
    quarter = np.int64(1) << (fraction_bits - 2)
    below_quarter = (x & (quarter - 1)) - quarter
    result = _exp_between_minus_quarter_and_zero(below_quarter << integer_bits)
    remainder = below_quarter - x
    for k, factor in _EXP_FACTORS:
        if k >= integer_bits:
            break
        has_bit = (remainder & (np.int64(1) << (fraction_bits + k))) != 0
        result = np.where(has_bit, saturating_rounding_doubling_high_mul(result, factor), result)
    return np.where(x == 0, INT32_MAX, result)


def _exp_between_minus_quarter_and_zero(a: Int64s) -> Int64s:
    """Taylor series of degree 4 around -1/8; argument and result in Q0.31."""
    mul = saturating_rounding_doubling_high_mul
    constant_term = math.floor(math.exp(-1 / 8) * 2**31 + 0.5)
    one_third = math.floor(2**31 / 3 + 0.5)
    x = a + (1 << 28)
    x2 = mul(x, x)
    x3 = mul(x2, x)
    x4 = mul(x2, x2)
    quarter_x4 = rounding_divide_by_pot(x4, 2)
    series = rounding_divide_by_pot(mul(quarter_x4 + x3, one_third) + x2, 1)
    return constant_term + mul(constant_term, x + series)


def scaled_differences(input_scale: float, beta: float) -> tuple[Int64s, NDArray[np.bool_]]:
    """Return all differences of int8 logits to their maximum as SOFTMAX scales them.

    Parameters
    ----------
    input_scale : float
        Scale of the int8 logits.
    beta : float
        Factor of the logits.

    Returns
    -------
    scaled : ndarray of int64 [256]
        Entry d: ``-beta * input_scale * d`` in Q5.26; 0 where it is not kept.
    is_kept : ndarray of bool [256]
        Which differences are so small that TFLite adds their exponentials.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/quantization_util.cc, PreprocessSoftmaxScaling and
    CalculateInputRadius, with 5 integer bits.
    """
    integer_bits = 5
    real = min(beta * input_scale * 2.0 ** (31 - integer_bits), 2.0**31 - 1.0)
    multiplier, left_shift = quantize_multiplier(real)
    radius = math.floor(((1 << integer_bits) - 1) * 2.0 ** (31 - integer_bits - left_shift))
    differences = -np.arange(256, dtype=np.int64)
    is_kept = differences >= -radius
    scaled = saturating_rounding_doubling_high_mul(
        wrap_int32(np.where(is_kept, differences, 0) << max(left_shift, 0)), multiplier
    )
    return scaled, is_kept


def softmax_exponentials(input_scale: float, beta: float) -> Int64s:
    """Return the exponentials of all differences to the maximum.

    Parameters
    ----------
    input_scale, beta : float
        As for `scaled_differences`.

    Returns
    -------
    ndarray of int64 [256]
        Entry d: ``exp(-beta * input_scale * d)`` in Q0.31; 0 from the difference on that TFLite
        leaves out of the sum.
    """
    scaled, is_kept = scaled_differences(input_scale, beta)
    return np.where(is_kept, exp_on_negative_values(scaled), 0)


def half_sum_reciprocal(a: ArrayLike) -> Int64s:
    """Return ``2 / (1 + a)`` in Q2.29 for ``a`` in Q0.31.

    Parameters
    ----------
    a : array_like of int32
        0 to 2**31 - 1.

    Notes
    -----
    Ref: gemmlowp fixedpoint.h, one_over_one_plus_x_for_x_in_0_1: three Newton-Raphson steps.
    """
    mul = saturating_rounding_doubling_high_mul
    half_sum = (np.asarray(a, np.int64) + INT32_MAX + 1) // 2
    # 48/17 - 32/17 * d is the usual first guess of 1/d on [1/2, 1].
    x = 1515870810 + mul(half_sum, -1010580540)
    for _ in range(3):
        error = (1 << 29) - mul(half_sum, x)
        correction = np.clip(mul(x, error) << 2, INT32_MIN, INT32_MAX)
        x = wrap_int32(x + correction)
    return x


def softmax_reciprocal(total: int) -> tuple[int, int]:
    """Return the reciprocal of a sum of exponentials.

    Parameters
    ----------
    total : int
        Sum in Q12.19, 2**19 to 2**31 - 1.

    Returns
    -------
    scale : int
        ``1 / total`` in Q0.31 after normalisation to [1, 2).
    bits_over_unit : int
        Exponent of the normalisation: ``1 / total = scale * 2**-bits_over_unit``.
    """
    headroom = 32 - total.bit_length()
    shifted = ((total << headroom) & 0xFFFF_FFFF) - 2**31
    doubled = int(np.clip(half_sum_reciprocal(shifted) << 1, INT32_MIN, INT32_MAX))
    return doubled, 12 - headroom
