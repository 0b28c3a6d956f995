/**
 * Rescaling of sums of 64 bits, which rounds once, with 15 bits of the multiplier.
 * `kiwicha.numerics.long_sums` defines the same in numpy.
 */
#ifndef KIWICHA_LONG_SUMS_H
#define KIWICHA_LONG_SUMS_H

#include <stdint.h>

#define KIWICHA_LONG_MULTIPLIER_BITS 15
#define KIWICHA_MAX_LONG_SHIFT 7 /* to the left */

/** Returns the bits of a multiplier that are used. */
static inline uint32_t kiwicha_long_factor(int32_t multiplier)
{
    const uint32_t halves = ((uint32_t)multiplier + (1u << 15)) >> 16;
    return halves - (halves >> KIWICHA_LONG_MULTIPLIER_BITS);
}

/** Returns by how many bits a product with these is shifted to the right. */
static inline uint32_t kiwicha_long_bits(int32_t shift)
{
    return (uint32_t)(KIWICHA_LONG_MULTIPLIER_BITS - shift);
}

/**
 * Returns x * multiplier * 2**(shift - 31), rounded once, halves up.
 *
 * @param x of 48 bits
 * @param multiplier 0 to 2**31 - 1, of which the upper half is used
 * @param shift -31 to KIWICHA_MAX_LONG_SHIFT
 */
static inline int32_t kiwicha_rescale_long(int64_t x, int32_t multiplier, int32_t shift)
{
    const uint32_t factor = kiwicha_long_factor(multiplier), bits = kiwicha_long_bits(shift);
    const uint64_t rounded = (uint64_t)x * factor + (UINT64_C(1) << (bits - 1));
    return (int32_t)((int64_t)rounded >> bits);
}

#endif
