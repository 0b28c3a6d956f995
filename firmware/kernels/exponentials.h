/** Exponentials of rows, for SOFTMAX and LOG_SOFTMAX: their table, maximum, sum and reciprocal. */
#ifndef KIWICHA_EXPONENTIALS_H
#define KIWICHA_EXPONENTIALS_H

#include <stdint.h>

#include "check.h"

#define KIWICHA_EXPONENTIALS 256
#define KIWICHA_MAX_DEPTH 4095 /* each exponential adds at most 2**19 to the int32 sum */
#define KIWICHA_SUM_FRACTION_BITS 19
#define KIWICHA_SUM_SHIFT (31 - KIWICHA_SUM_FRACTION_BITS)
#define KIWICHA_SUM_HALF (1u << (KIWICHA_SUM_SHIFT - 1))

/**
 * Requires a table of exponentials in Q0.31: int32 [256], constant, falling from 1.
 *
 * Reads the table if nothing before has failed.
 */
void kiwicha_require_exponentials(struct kiwicha_check *check, const struct kiwicha_ref *table);

/** Returns the largest number of a row. */
static inline int32_t kiwicha_maximum(const int8_t *input, uint32_t depth)
{
    /* Four at a time, so that loads and branches are waited for less. */
    int32_t maximum = INT8_MIN;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < depth; k++) {
        maximum = input[k] > maximum ? input[k] : maximum;
    }
    return maximum;
}

/** Returns the sum of a row's exponentials in Q12.19. */
static inline uint32_t kiwicha_sum_of_exponentials(const int8_t *input, const int32_t *exponentials,
                                                   uint32_t depth, int32_t maximum)
{
    uint32_t sum = 0;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < depth; k++) {
        /* Half up is half away from zero: nothing is negative. */
        sum += ((uint32_t)exponentials[maximum - input[k]] + KIWICHA_SUM_HALF) >> KIWICHA_SUM_SHIFT;
    }
    return sum;
}

/**
 * Returns round(a * b / 2**31), ties towards plus infinity.
 *
 * @param twice_a 2 a
 * @param twice_b 2 b
 */
static inline int32_t kiwicha_product(int32_t twice_a, uint32_t twice_b)
{
    int32_t high = (int32_t)(((int64_t)twice_a * twice_b) >> 32);
    /* It has the one bit that rounding needs. Left to itself, the compiler shifts 64 bits later. */
    __asm__("" : "+r"(high));
    return (high + 1) >> 1;
}

/**
 * Returns the reciprocal of a sum in Q12.19, 2**19 to 2**31 - 1, normalised to [1, 2) in Q0.31.
 *
 * @param normalized the sum shifted left until bit 31 is set
 */
static inline uint32_t kiwicha_reciprocal(uint32_t normalized)
{
    const uint32_t denominator = normalized & ~UINT32_C(1); /* Q0.32, a half to 1 */
    /* Q2.29: 48/17 - 32/17 d is the usual first guess of 1/d on [1/2, 1]. */
    int32_t x = 1515870810 + kiwicha_product(2 * -1010580540, denominator);
    for (uint32_t step = 0; step < 3; step++) {
        /* Before a step, x is below 1/d, and so below 2**30. */
        const int32_t error = (INT32_C(1) << 29) - kiwicha_product(2 * x, denominator);
        /* The first error is below 1/16: no correction leaves 32 bits. */
        x += kiwicha_product(2 * error, 2 * (uint32_t)x) * 4;
    }
    return x >= INT32_C(1) << 30 ? INT32_MAX : (uint32_t)x * 2;
}

#endif
