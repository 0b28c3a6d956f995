#include <stddef.h>

#include "check.h"
#include "kernels.h"
#include "short_pairs.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_short_line(const struct kiwicha_memory *memory,
                                                           const void *params)
{
    const struct kiwicha_short_line *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_source(&check, &p->input, kiwicha_short_bytes(1, p->count), sizeof(int16_t));
    kiwicha_require_target(&check, &p->output, p->count, sizeof(int8_t));
    kiwicha_require(&check, p->first >= INT16_MIN && p->first <= p->last && p->last <= INT16_MAX);
    kiwicha_require(&check, p->factor >= 0 && p->shift <= 31);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    const int64_t low = (int64_t)p->first * p->factor + p->offset;
    const int64_t high = (int64_t)p->last * p->factor + p->offset;
    kiwicha_require(&check, low >= INT32_MIN && high <= INT32_MAX);
    kiwicha_require(&check, low >> p->shift >= INT8_MIN && high >> p->shift <= INT8_MAX);
    return check.status;
}

/** Numbers of int16 as bytes, by a line. */
enum kiwicha_status kiwicha_run_short_line(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_short_line *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    int8_t *output = kiwicha_target(memory, &p->output);
    const int32_t first = p->first, last = p->last, factor = p->factor, offset = p->offset;
    const uint32_t count = p->count, shift = p->shift;
    for (uint32_t k = 0; k < count; k++) {
        const int32_t x = input[k] < first ? first : input[k] > last ? last : input[k];
        /* Where both limits are on one side of 0 a product alone may need more than 32 bits. */
        output[k] = (int8_t)((int32_t)((uint32_t)x * (uint32_t)factor + (uint32_t)offset) >> shift);
    }
    return KIWICHA_STATUS_OK;
}
