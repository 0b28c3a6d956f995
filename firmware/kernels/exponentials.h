/** Exponentials of rows, for SOFTMAX and LOG_SOFTMAX: their table, maximum, sum and reciprocal. */
#ifndef KIWICHA_EXPONENTIALS_H
#define KIWICHA_EXPONENTIALS_H

#include <stdint.h>

#include "check.h"
#include "maximum.h"

#define KIWICHA_EXPONENTIALS 256
#define KIWICHA_LONG_ROW 64    /* for shorter ones no other code is worth its cache lines */
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
static inline int32_t kiwicha_largest(const int8_t *input, uint32_t depth)
{
    if (depth >= KIWICHA_LONG_ROW) {
        return kiwicha_maximum(input, depth, 0);
    }
    /* Four at a time, so that loads and branches are waited for less. */
    int32_t maximum = INT8_MIN;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < depth; k++) {
        maximum = input[k] > maximum ? input[k] : maximum;
    }
    return maximum;
}

/** Returns where the entry of an input of 0 would lie in a table by distance from the maximum. */
static inline uintptr_t kiwicha_entry_of_zero(const void *table, int32_t maximum)
{
    return (uintptr_t)table + (uintptr_t)(intptr_t)maximum * sizeof(int32_t);
}

/** Returns an input's entry; one instruction less than with the distance as an index. */
static inline uint32_t kiwicha_entry(uintptr_t entry_of_zero, int8_t input)
{
    return *(const uint32_t *)(entry_of_zero - (uintptr_t)(intptr_t)input * sizeof(int32_t));
}

/** Reads the entries of four inputs, so that nothing waits for a load that has just begun. */
static inline void kiwicha_four_entries(uintptr_t entry_of_zero, const int8_t *input,
                                        uint32_t entries[4])
{
    const int8_t a = input[0], b = input[1], c = input[2], d = input[3];
    entries[0] = kiwicha_entry(entry_of_zero, a);
    entries[1] = kiwicha_entry(entry_of_zero, b);
    entries[2] = kiwicha_entry(entry_of_zero, c);
    entries[3] = kiwicha_entry(entry_of_zero, d);
    __asm__("" : "+r"(entries[0]), "+r"(entries[1]), "+r"(entries[2]), "+r"(entries[3]));
}

/** Returns the sum of a row's exponentials in Q12.19. */
static inline uint32_t kiwicha_sum_of_exponentials(const int8_t *input, const int32_t *exponentials,
                                                   uint32_t depth, int32_t maximum)
{
    uint32_t sum = 0, k = 0;
    const uintptr_t zero = kiwicha_entry_of_zero(exponentials, maximum);
    /* Half up is half away from zero: nothing is negative. */
    for (; k + 4 <= depth; k += 4) {
        uint32_t four[4];
        kiwicha_four_entries(zero, input + k, four);
        for (uint32_t n = 0; n < 4; n++) {
            sum += (four[n] + KIWICHA_SUM_HALF) >> KIWICHA_SUM_SHIFT;
        }
    }
#pragma GCC unroll 1
    for (; k < depth; k++) {
        sum += (kiwicha_entry(zero, input[k]) + KIWICHA_SUM_HALF) >> KIWICHA_SUM_SHIFT;
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
