#include "check.h"
#include "elements.h"
#include "kernels.h"
#include "requantize.h"

#define HEADROOM_BITS 19

KIWICHA_SMALL enum kiwicha_status kiwicha_check_top_positions(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    const struct kiwicha_top_positions *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = kiwicha_integer_bytes(p->dtype);
    const uint32_t input[] = {p->rows, p->depth, bytes};
    const uint32_t output[] = {p->rows, p->count, sizeof(int32_t)};
    kiwicha_require(&check, bytes != 0 && p->count <= p->depth);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_product(input, 3), bytes);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_product(output, 3),
                           sizeof(int32_t));
    return check.status;
}

/** Finds the positions of the largest elements of one row: each new one is put in its place. */
KIWICHA_SPECIALIZED void find_largest(const struct kiwicha_top_positions *p, const uint8_t *row,
                                      uint32_t bytes, int32_t *best)
{
    uint32_t found = 0;
    int64_t smallest = 0; /* of those that were found, once there are as many as are wanted */
#pragma GCC unroll 1
    for (uint32_t k = 0; k < p->depth; k++) {
        const int64_t value = kiwicha_read_integer(row, k, bytes);
        if (found == p->count && value <= smallest) {
            continue;
        }
        uint32_t place = found < p->count ? found++ : found - 1;
        while (place > 0 && kiwicha_read_integer(row, (uint32_t)best[place - 1], bytes) < value) {
            best[place] = best[place - 1];
            place--;
        }
        best[place] = (int32_t)k;
        smallest = kiwicha_read_integer(row, (uint32_t)best[found - 1], bytes);
    }
}

/** TOPK_V2: positions of the largest elements of each row. */
enum kiwicha_status kiwicha_run_top_positions(const struct kiwicha_memory *memory,
                                              const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_top_positions *p = params;
    const uint8_t *input = kiwicha_source(memory, &p->input);
    int32_t *output = kiwicha_target(memory, &p->output);
    const uint32_t bytes = kiwicha_integer_bytes(p->dtype);
    for (uint32_t row = 0; row < p->rows; row++) {
        switch (bytes) {
        case 1:
            find_largest(p, input, 1, output);
            break;
        case 4:
            find_largest(p, input, 4, output);
            break;
        default:
            find_largest(p, input, bytes, output);
        }
        input += p->depth * bytes;
        output += p->count;
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_cumulative_sum(const struct kiwicha_memory *memory,
                                                               const void *params)
{
    const struct kiwicha_cumulative_sum *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = kiwicha_integer_bytes(p->dtype);
    const uint32_t sizes[] = {p->outer, p->depth, p->inner, bytes};
    const uint32_t total = kiwicha_saturating_product(sizes, 4);
    kiwicha_require(&check, bytes != 0 && p->is_exclusive <= 1 && p->is_reverse <= 1);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    kiwicha_require_source(&check, &p->input, total, bytes);
    kiwicha_require_target(&check, &p->output, total, bytes);
    kiwicha_require_range(&check, p->input_offset, -127, 128);
    kiwicha_require_output(&check, p->output_offset, INT8_MIN, INT8_MAX);
    kiwicha_require_scale(&check, p->multiplier, p->shift);
    return check.status;
}

static int32_t scaled_byte(const struct kiwicha_cumulative_sum *p, int64_t sum)
{
    const int32_t scaled = kiwicha_rescale((int32_t)sum, p->multiplier, p->shift);
    return kiwicha_clamp(kiwicha_wrapping_add(scaled, p->output_offset), INT8_MIN, INT8_MAX);
}

/** Adds up elements that lie `inner` apart, from `index` on, or back from the last of them. */
static void add_up(const struct kiwicha_cumulative_sum *p, const void *input, void *output,
                   uint32_t index, uint32_t bytes)
{
    const bool is_scaled = p->dtype == KIWICHA_DTYPE_INT8;
    const int64_t unit = INT64_C(1) << HEADROOM_BITS;
    const uint32_t step = p->is_reverse ? 0u - p->inner : p->inner;
    int64_t sum = is_scaled ? p->input_offset * unit : 0;
    if (p->is_reverse) {
        index += (p->depth - 1) * p->inner;
    }
    for (uint32_t k = 0; k < p->depth; k++, index += step) {
        const int64_t before = sum, x = kiwicha_read_integer(input, index, bytes);
        sum = kiwicha_wrapping_sum(sum, is_scaled ? (x + p->input_offset) * unit : x);
        const int64_t result = p->is_exclusive ? before : sum;
        kiwicha_write_integer(output, index, bytes, is_scaled ? scaled_byte(p, result) : result);
    }
}

/** CUMSUM: elements added up along one dimension. */
enum kiwicha_status kiwicha_run_cumulative_sum(const struct kiwicha_memory *memory,
                                               const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_cumulative_sum *p = params;
    const void *input = kiwicha_source(memory, &p->input);
    void *output = kiwicha_target(memory, &p->output);
    const uint32_t bytes = kiwicha_integer_bytes(p->dtype);
    for (uint32_t outer = 0; outer < p->outer; outer++) {
        for (uint32_t inner = 0; inner < p->inner; inner++) {
            add_up(p, input, output, outer * p->depth * p->inner + inner, bytes);
        }
    }
    return KIWICHA_STATUS_OK;
}
