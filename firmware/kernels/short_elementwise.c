#include <stddef.h>

#include "check.h"
#include "kernels.h"
#include "requantize.h"
#include "rows.h"
#include "shorts.h"

#define MAX_LEFT_SHIFT 15u /* of an int16 that an int32 holds */

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_short_elementwise(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_elementwise *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    struct kiwicha_elementwise of_bytes = *p;
    of_bytes.input_1 = kiwicha_as_bytes(p->input_1);
    of_bytes.input_2 = kiwicha_as_bytes(p->input_2);
    of_bytes.output = kiwicha_as_bytes(p->output);
    of_bytes.activation_min = INT8_MIN;
    of_bytes.activation_max = INT8_MAX;
    kiwicha_require_elementwise(&check, &of_bytes, 1);
    kiwicha_require_shorts(&check, &p->input_1);
    kiwicha_require_shorts(&check, &p->input_2);
    kiwicha_require_short_output(&check, &p->output, p->activation_min, p->activation_max);
    kiwicha_require(&check, p->offset_1 == 0 && p->offset_2 == 0 && p->output_offset == 0);
    kiwicha_require(&check, p->left_shift <= MAX_LEFT_SHIFT);
    return check.status;
}

static inline int32_t scaled_1(const struct kiwicha_elementwise *p, int32_t a)
{
    return kiwicha_rescale(a * (INT32_C(1) << p->left_shift), p->multiplier_1, p->shift_1);
}

static inline int32_t scaled_2(const struct kiwicha_elementwise *p, int32_t b)
{
    return kiwicha_rescale(b * (INT32_C(1) << p->left_shift), p->multiplier_2, p->shift_2);
}

static inline int32_t add(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    return kiwicha_wrapping_add(scaled_1(p, a), scaled_2(p, b));
}

static inline int32_t subtract(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)scaled_1(p, a) - (uint32_t)scaled_2(p, b));
}

static inline int32_t multiply(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    (void)p;
    return a * b;
}

static inline __attribute__((always_inline)) enum kiwicha_status
run(const struct kiwicha_memory *memory, const void *params,
    int32_t (*combine)(const struct kiwicha_elementwise *, int32_t, int32_t))
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_elementwise *p = params;
    const int16_t *input_1 = kiwicha_source(memory, &p->input_1);
    const int16_t *input_2 = kiwicha_source(memory, &p->input_2);
    int16_t *output = kiwicha_target(memory, &p->output);
    const uint32_t columns = p->shape[KIWICHA_MAX_RANK - 1];
    const uint32_t stride_1 = p->strides_1[KIWICHA_MAX_RANK - 1];
    const uint32_t stride_2 = p->strides_2[KIWICHA_MAX_RANK - 1];
    uint32_t position[KIWICHA_MAX_RANK] = {0};
    do {
        const int16_t *row_1 = input_1 + row_offset(p->strides_1, position);
        const int16_t *row_2 = input_2 + row_offset(p->strides_2, position);
        for (uint32_t column = 0; column < columns; column++) {
            const int32_t both = combine(p, row_1[column * stride_1], row_2[column * stride_2]);
            const int32_t result = kiwicha_rescale(both, p->output_multiplier, p->output_shift);
            *output++ = (int16_t)kiwicha_clamp(result, p->activation_min, p->activation_max);
        }
    } while (next_row(p, position));
    return KIWICHA_STATUS_OK;
}

enum kiwicha_status kiwicha_run_short_add(const struct kiwicha_memory *memory, const void *params)
{
    return run(memory, params, add);
}

enum kiwicha_status kiwicha_run_short_sub(const struct kiwicha_memory *memory, const void *params)
{
    return run(memory, params, subtract);
}

enum kiwicha_status kiwicha_run_short_mul(const struct kiwicha_memory *memory, const void *params)
{
    return run(memory, params, multiply);
}
