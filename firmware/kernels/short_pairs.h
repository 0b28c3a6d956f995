/** Numbers of 16 bits, two at a time. */
#ifndef KIWICHA_SHORT_PAIRS_H
#define KIWICHA_SHORT_PAIRS_H

#include <stdint.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"

/** Returns the bytes of rows of numbers. */
KIWICHA_SMALL static inline uint32_t kiwicha_short_bytes(uint32_t rows, uint32_t size)
{
    const uint32_t sizes[] = {rows, size, sizeof(int16_t)};
    return kiwicha_saturating_product(sizes, 3);
}

/** Stores the low halves of two numbers as a word: two stores take twice as long. */
KIWICHA_SPECIALIZED void kiwicha_store_shorts(void *at, int32_t first, int32_t second)
{
    *(kiwicha_word *)at = ((uint32_t)first & UINT16_MAX) | (uint32_t)second << 16;
}

#endif
