#include <string.h>

#include "check.h"
#include "kernels.h"

#define LAST (KIWICHA_MAX_RANK - 1)

KIWICHA_SMALL enum kiwicha_status kiwicha_check_pad(const struct kiwicha_memory *memory,
                                                    const void *params)
{
    const struct kiwicha_pad *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    uint32_t outputs = 1;
    for (uint32_t k = 0; k < KIWICHA_MAX_RANK; k++) {
        uint64_t size = (uint64_t)p->shape[k] + p->before[k] + p->after[k];
        outputs =
            kiwicha_saturating_multiply(outputs, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size);
    }
    kiwicha_require_source(&check, &p->input,
                           kiwicha_saturating_product(p->shape, KIWICHA_MAX_RANK), 1);
    kiwicha_require_target(&check, &p->output, outputs, 1);
    kiwicha_require_range(&check, p->value, INT8_MIN, INT8_MAX);
    return check.status;
}

/** Whether the row at this position of the output holds elements of the input. */
static bool is_inside(const struct kiwicha_pad *p, const uint32_t *position)
{
    for (uint32_t k = 0; k < LAST; k++) {
        if (position[k] < p->before[k] || position[k] - p->before[k] >= p->shape[k]) {
            return false;
        }
    }
    return true;
}

/** Steps the position to the next row; returns false after the last one. */
static bool next_row(const struct kiwicha_pad *p, uint32_t *position)
{
    for (uint32_t k = LAST; k > 0; k--) {
        if (++position[k - 1] < p->before[k - 1] + p->shape[k - 1] + p->after[k - 1]) {
            return true;
        }
        position[k - 1] = 0;
    }
    return false;
}

KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_pad(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_pad *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    int8_t *output = kiwicha_target(memory, &p->output);
    const uint32_t row = p->shape[LAST];
    const uint32_t padded_row = p->before[LAST] + row + p->after[LAST];
    uint32_t position[LAST] = {0};
    do {
        if (is_inside(p, position)) {
            memset(output, p->value, p->before[LAST]);
            memcpy(output + p->before[LAST], input, row);
            memset(output + p->before[LAST] + row, p->value, p->after[LAST]);
            input += row;
        } else {
            memset(output, p->value, padded_row);
        }
        output += padded_row;
    } while (next_row(p, position));
    return KIWICHA_STATUS_OK;
}
