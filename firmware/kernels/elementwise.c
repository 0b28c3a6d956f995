#include "check.h"
#include "kernels.h"
#include "requantize.h"
#include "rows.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_elementwise(const struct kiwicha_memory *memory,
                                                            const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_elementwise(&check, params, 1);
    return check.status;
}

KIWICHA_FALLBACK static int32_t scaled_1(const struct kiwicha_elementwise *p, int32_t a)
{
    int32_t raised = (a + p->offset_1) * (INT32_C(1) << p->left_shift);
    return kiwicha_rescale(raised, p->multiplier_1, p->shift_1);
}

KIWICHA_FALLBACK static int32_t scaled_2(const struct kiwicha_elementwise *p, int32_t b)
{
    int32_t raised = (b + p->offset_2) * (INT32_C(1) << p->left_shift);
    return kiwicha_rescale(raised, p->multiplier_2, p->shift_2);
}

KIWICHA_FALLBACK static int32_t scaled_result(const struct kiwicha_elementwise *p, int32_t x)
{
    return kiwicha_rescale(x, p->output_multiplier, p->output_shift);
}

KIWICHA_FALLBACK static int32_t add(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    return scaled_result(p, kiwicha_wrapping_add(scaled_1(p, a), scaled_2(p, b)));
}

KIWICHA_FALLBACK static int32_t subtract(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    return scaled_result(p, (int32_t)((uint32_t)scaled_1(p, a) - (uint32_t)scaled_2(p, b)));
}

KIWICHA_SMALL static int32_t square(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    const uint32_t difference = (uint32_t)scaled_1(p, a) - (uint32_t)scaled_2(p, b);
    return scaled_result(p, (int32_t)(difference * difference));
}

KIWICHA_FALLBACK static int32_t multiply(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    return scaled_result(p, (a + p->offset_1) * (b + p->offset_2));
}

KIWICHA_SMALL static int32_t smaller(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    (void)p;
    return a < b ? a : b;
}

KIWICHA_SMALL static int32_t larger(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    (void)p;
    return a > b ? a : b;
}

KIWICHA_SMALL static int32_t leak(const struct kiwicha_elementwise *p, int32_t a, int32_t b)
{
    return a + p->offset_1 >= 0 ? kiwicha_rescale(a + p->offset_1, p->multiplier_1, p->shift_1)
                                : multiply(p, a, b);
}

KIWICHA_FALLBACK static inline enum kiwicha_status
run(const struct kiwicha_memory *memory, const void *params,
    int32_t (*combine)(const struct kiwicha_elementwise *, int32_t, int32_t))
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_elementwise *p = params;
    const int8_t *input_1 = kiwicha_source(memory, &p->input_1);
    const int8_t *input_2 = kiwicha_source(memory, &p->input_2);
    int8_t *output = kiwicha_target(memory, &p->output);
    const uint32_t columns = p->shape[KIWICHA_MAX_RANK - 1];
    const uint32_t stride_1 = p->strides_1[KIWICHA_MAX_RANK - 1];
    const uint32_t stride_2 = p->strides_2[KIWICHA_MAX_RANK - 1];
    uint32_t position[KIWICHA_MAX_RANK] = {0};
    do {
        const int8_t *row_1 = input_1 + row_offset(p->strides_1, position);
        const int8_t *row_2 = input_2 + row_offset(p->strides_2, position);
        for (uint32_t column = 0; column < columns; column++) {
            int32_t result = combine(p, row_1[column * stride_1], row_2[column * stride_2]);
            *output++ = (int8_t)kiwicha_clamp(kiwicha_wrapping_add(result, p->output_offset),
                                              p->activation_min, p->activation_max);
        }
    } while (next_row(p, position));
    return KIWICHA_STATUS_OK;
}

KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_add(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    return run(memory, params, add);
}

KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_sub(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    return run(memory, params, subtract);
}

KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_mul(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    return run(memory, params, multiply);
}

/* Seldom used: one function that is not compiled for a single operator. */
KIWICHA_SMALL static __attribute__((noinline)) enum kiwicha_status
run_any(const struct kiwicha_memory *memory, const void *params,
        int32_t (*combine)(const struct kiwicha_elementwise *, int32_t, int32_t))
{
    return run(memory, params, combine);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_run_minimum(const struct kiwicha_memory *memory,
                                                      const void *params)
{
    return run_any(memory, params, smaller);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_run_maximum(const struct kiwicha_memory *memory,
                                                      const void *params)
{
    return run_any(memory, params, larger);
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_run_squared_difference(const struct kiwicha_memory *memory, const void *params)
{
    return run_any(memory, params, square);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_run_prelu(const struct kiwicha_memory *memory,
                                                    const void *params)
{
    return run_any(memory, params, leak);
}
