/** Positions in row-major tensors. */
#ifndef KIWICHA_INDEX_H
#define KIWICHA_INDEX_H

#include <stdint.h>

/** Returns the element number of (n, y, x, c) in a tensor [N, height, width, channels]. */
static inline uint32_t kiwicha_index(uint32_t height, uint32_t width, uint32_t channels, uint32_t n,
                                     uint32_t y, uint32_t x, uint32_t c)
{
    return ((n * height + y) * width + x) * channels + c;
}

#endif
