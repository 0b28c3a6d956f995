/**
 * Integer arithmetic of quantized operators, as in TensorFlow Lite: two roundings, first in the
 * high multiply, then in the shift. `kiwicha.numerics.requantization` defines the same in numpy.
 */
#ifndef KIWICHA_REQUANTIZE_H
#define KIWICHA_REQUANTIZE_H

#include <stdint.h>

/** Returns a + b modulo 2**32. */
static inline int32_t kiwicha_wrapping_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/**
 * Returns round(a * b / 2**31), ties towards plus infinity.
 *
 * @param a int32
 * @param b int32, not -2**31
 */
static inline int32_t kiwicha_high_multiply(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

/**
 * Returns x / 2**exponent rounded to nearest, ties away from zero.
 *
 * @param x int32
 * @param exponent 0 to 31
 */
static inline int32_t kiwicha_rounding_divide_by_pot(int32_t x, uint32_t exponent)
{
    int32_t mask = (int32_t)((UINT32_C(1) << exponent) - 1);
    int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
    return (x >> exponent) + ((x & mask) > threshold ? 1 : 0);
}

/**
 * Returns x * multiplier * 2**(shift - 31), rounded twice.
 *
 * @param x int32; a positive shift that overflows wraps to 32 bits
 * @param multiplier 0 to 2**31 - 1
 * @param shift -31 to 30
 */
static inline int32_t kiwicha_rescale(int32_t x, int32_t multiplier, int32_t shift)
{
    uint32_t left = shift > 0 ? (uint32_t)shift : 0;
    uint32_t right = shift > 0 ? 0 : (uint32_t)-shift;
    int32_t shifted = (int32_t)((uint32_t)x << left);
    return kiwicha_rounding_divide_by_pot(kiwicha_high_multiply(shifted, multiplier), right);
}

/** Returns x limited to the range from minimum to maximum. */
static inline int32_t kiwicha_clamp(int32_t x, int32_t minimum, int32_t maximum)
{
    return x < minimum ? minimum : x > maximum ? maximum : x;
}

#endif
