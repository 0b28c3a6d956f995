#include "requantize.h"

#include <stddef.h>

#include "check.h"
#include "kernels.h"

static bool is_size(uint32_t bytes)
{
    return bytes == sizeof(int8_t) || bytes == sizeof(int16_t) || bytes == sizeof(int32_t);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_requantize(const struct kiwicha_memory *memory,
                                                           const void *params)
{
    const struct kiwicha_requantize *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require(&check, is_size(p->input_bytes) && is_size(p->output_bytes));
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(p->count, p->input_bytes),
                           p->input_bytes);
    kiwicha_require_target(&check, &p->output,
                           kiwicha_saturating_multiply(p->count, p->output_bytes), p->output_bytes);
    kiwicha_require_scale(&check, p->multiplier, p->shift);
    return check.status;
}

/** Returns an element, from 2**31 less than it may be on. */
static inline int32_t load(const void *input, uint32_t bytes, uint32_t index)
{
    switch (bytes) {
    case sizeof(int8_t):
        return ((const int8_t *)input)[index];
    case sizeof(int16_t):
        return ((const int16_t *)input)[index];
    default:
        return ((const int32_t *)input)[index];
    }
}

static inline void store(void *output, uint32_t bytes, uint32_t index, int32_t value)
{
    switch (bytes) {
    case sizeof(int8_t):
        ((int8_t *)output)[index] = (int8_t)kiwicha_clamp(value, INT8_MIN, INT8_MAX);
        break;
    case sizeof(int16_t):
        ((int16_t *)output)[index] = (int16_t)kiwicha_clamp(value, INT16_MIN, INT16_MAX);
        break;
    default:
        ((int32_t *)output)[index] = value;
    }
}

enum kiwicha_status kiwicha_run_requantize(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_requantize *p = params;
    const void *input = kiwicha_source(memory, &p->input);
    void *output = kiwicha_target(memory, &p->output);
    const int32_t offset = p->input_offset, multiplier = p->multiplier, shift = p->shift;
    for (uint32_t k = 0; k < p->count; k++) {
        const int32_t x = kiwicha_wrapping_add(load(input, p->input_bytes, k), offset);
        const int32_t scaled = kiwicha_rescale(x, multiplier, shift);
        store(output, p->output_bytes, k, kiwicha_wrapping_add(scaled, p->output_offset));
    }
    return KIWICHA_STATUS_OK;
}
