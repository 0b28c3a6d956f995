/** Sums of products of int16 and int8, exact in 64 bits. */
#ifndef KIWICHA_SHORT_PRODUCTS_H
#define KIWICHA_SHORT_PRODUCTS_H

#include <stdint.h>

#define KIWICHA_EXACT_PRODUCTS 256u /* of an int16 and an int8, whose sum fits an int32 */

/** Returns the sum of up to `KIWICHA_EXACT_PRODUCTS` products. */
static inline int32_t kiwicha_short_sum(const int16_t *values, const int8_t *weights,
                                        uint32_t count)
{
    int32_t sum = 0;
    const int16_t *end = values + count;
    for (const int16_t *last = end - count % 4; values != last; values += 4, weights += 4) {
        const int32_t a = values[0] * weights[0], b = values[1] * weights[1];
        const int32_t c = values[2] * weights[2], d = values[3] * weights[3];
        sum += (a + b) + (c + d);
    }
    while (values != end) {
        sum += *values++ * *weights++;
    }
    return sum;
}

/** Returns the sum of any number of products. */
static inline int64_t kiwicha_short_products(const int16_t *values, const int8_t *weights,
                                             uint32_t count)
{
    int64_t sum = 0;
    for (; count > KIWICHA_EXACT_PRODUCTS; count -= KIWICHA_EXACT_PRODUCTS) {
        sum += kiwicha_short_sum(values, weights, KIWICHA_EXACT_PRODUCTS);
        values += KIWICHA_EXACT_PRODUCTS;
        weights += KIWICHA_EXACT_PRODUCTS;
    }
    return sum + kiwicha_short_sum(values, weights, count);
}

#endif
