/** Where the taps of a convolution lie in its input. */
#ifndef KIWICHA_TAPS_H
#define KIWICHA_TAPS_H

#include <stdbool.h>
#include <stdint.h>

/** The taps of one dimension: what an output reads through tap k is `origin + k * step`. */
struct taps {
    int32_t origin;
    int32_t step;
    int32_t divisor; /**< of that place: 1, or the stride that spreads the input */
};

static inline struct taps taps_at(uint32_t output, uint32_t stride, uint32_t dilation, uint32_t pad,
                                  const bool is_transposed)
{
    if (is_transposed) {
        return (struct taps){(int32_t)(output + pad), -1, (int32_t)stride};
    }
    return (struct taps){(int32_t)(output * stride) - (int32_t)pad, (int32_t)dilation, 1};
}

/** Returns the element of the input that a tap reads, or `size` if there is none. */
static inline uint32_t source_of(const struct taps *taps, uint32_t tap, uint32_t size,
                                 const bool is_transposed)
{
    int32_t place = taps->origin + (int32_t)tap * taps->step;
    if (is_transposed) {
        place = place % taps->divisor == 0 ? place / taps->divisor : -1;
    }
    return place >= 0 && (uint32_t)place < size ? (uint32_t)place : size;
}

#endif
