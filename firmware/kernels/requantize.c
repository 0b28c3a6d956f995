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

static int32_t load(const void *input, uint32_t bytes, uint32_t index)
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

static void store(void *output, uint32_t bytes, uint32_t index, int32_t value)
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

/** How int16 become int8, where no shift goes to the left and no sum overflows. */
struct shorts {
    int32_t input_offset, multiplier;
    uint32_t shift;
    int32_t half;  /**< what halves are rounded with */
    int32_t minus; /**< -1 if there are halves: those of negative numbers go down */
    int32_t least, most, output_offset;
};

static inline uint32_t byte_of(const struct shorts *by, int32_t x)
{
    const int64_t product = (int64_t)(2 * (x + by->input_offset)) * by->multiplier;
    const int32_t high = (int32_t)(product >> 32) + (int32_t)((uint32_t)product >> 31);
    const int32_t scaled = (high + by->half + ((high >> 31) & by->minus)) >> by->shift;
    const int32_t clamped = kiwicha_clamp(scaled, by->least, by->most);
    return (uint32_t)(clamped + by->output_offset) & 0xff;
}

/** What a sound front end gives a network of bytes. */
static void run_shorts(const struct kiwicha_requantize *p, const int16_t *input, int8_t *output)
{
    const uint32_t shift = (uint32_t)-p->shift;
    const struct shorts by = {
        .input_offset = p->input_offset,
        .multiplier = p->multiplier,
        .shift = shift,
        .half = (int32_t)((UINT32_C(1) << shift) >> 1),
        .minus = shift > 0 ? -1 : 0,
        .least = INT8_MIN - p->output_offset,
        .most = INT8_MAX - p->output_offset,
        .output_offset = p->output_offset,
    };
    const int16_t *end = input + p->count;
    /* Word by word: each store goes to DRAM. */
    for (const int16_t *last = end - p->count % 4; input != last; input += 4) {
        const uint32_t a = byte_of(&by, input[0]), b = byte_of(&by, input[1]);
        const uint32_t c = byte_of(&by, input[2]), d = byte_of(&by, input[3]);
        *(kiwicha_word *)(void *)output = a | b << 8 | c << 16 | d << 24;
        output += 4;
    }
    for (; input != end; input++) {
        *output++ = (int8_t)byte_of(&by, *input);
    }
}

/** Any other types and scales. */
KIWICHA_SMALL static void run_any(const struct kiwicha_requantize *p, const void *input,
                                  void *output)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const int32_t x = kiwicha_wrapping_add(load(input, p->input_bytes, k), p->input_offset);
        const int32_t scaled = kiwicha_rescale(x, p->multiplier, p->shift);
        store(output, p->output_bytes, k, kiwicha_wrapping_add(scaled, p->output_offset));
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
    const bool are_moderate = p->input_offset >= -65536 && p->input_offset <= 65536 &&
                              p->output_offset >= INT8_MIN && p->output_offset <= INT8_MAX;
    if (p->input_bytes == sizeof(int16_t) && p->output_bytes == sizeof(int8_t) && p->shift <= 0 &&
        p->shift > -31 && are_moderate && p->output.offset % sizeof(kiwicha_word) == 0) {
        run_shorts(p, input, output);
    } else {
        run_any(p, input, output);
    }
    return KIWICHA_STATUS_OK;
}
