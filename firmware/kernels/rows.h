/** The rows of a tensor and of what is broadcast to its shape. */
#ifndef KIWICHA_ROWS_H
#define KIWICHA_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "kiwicha_isa.h"

/** Steps the position to the next row; returns false after the last one. */
static bool next_row(const struct kiwicha_elementwise *p, uint32_t position[KIWICHA_MAX_RANK])
{
    for (uint32_t k = KIWICHA_MAX_RANK - 1; k > 0; k--) {
        if (++position[k - 1] < p->shape[k - 1]) {
            return true;
        }
        position[k - 1] = 0;
    }
    return false;
}

static uint32_t row_offset(const uint32_t *strides, const uint32_t *position)
{
    uint32_t offset = 0;
    for (uint32_t k = 0; k + 1 < KIWICHA_MAX_RANK; k++) {
        offset += strides[k] * position[k];
    }
    return offset;
}

#endif
