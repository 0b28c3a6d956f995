#include <stddef.h>

#include "check.h"
#include "kernels.h"
#include "lstm.h"
#include "requantize.h"

#define LAST_LINE 255u /* number of the first line behind which results do not change */
#define MAX_SHIFT 31u

KIWICHA_SMALL static void require_elements(struct kiwicha_check *check,
                                           const struct kiwicha_ref *input,
                                           const struct kiwicha_ref *output, uint32_t count)
{
    const uint32_t bytes = kiwicha_saturating_multiply(count, sizeof(int16_t));
    kiwicha_require_source(check, input, bytes, sizeof(int16_t));
    kiwicha_require_target(check, output, bytes, sizeof(int16_t));
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_short_function(const struct kiwicha_memory *memory,
                                                               const void *params)
{
    const struct kiwicha_short_function *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_elements(&check, &p->input, &p->output, p->count);
    kiwicha_require_source(&check, &p->points, KIWICHA_LSTM_POINTS * sizeof(int16_t),
                           sizeof(int16_t));
    kiwicha_require(&check, p->multiplier <= INT16_MAX && p->shift <= MAX_SHIFT);
    return check.status;
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_short_leaky_relu(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_short_leaky_relu *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_elements(&check, &p->input, &p->output, p->count);
    kiwicha_require_scale(&check, p->multiplier, p->shift);
    kiwicha_require_scale(&check, p->leak_multiplier, p->leak_shift);
    kiwicha_require(&check, p->leak_sign == 1 || p->leak_sign == -1);
    kiwicha_require_range(&check, p->activation_max, 0, INT16_MAX);
    return check.status;
}

/** Returns the logistic function in Q0.15 of an argument at whose every 512th there is a point. */
static inline int32_t logistic(const int16_t *points, int32_t scaled)
{
    const int32_t sign = scaled >> 31;
    const uint32_t magnitude = (uint32_t)((scaled ^ sign) - sign), place = magnitude >> 9;
    int32_t line = (INT16_MAX << 10) - (1 << 24);
    if (__builtin_expect(place < LAST_LINE, 1)) {
        const int32_t low = points[place], high = points[place + 1];
        line = low * 512 + (int32_t)(magnitude & 511) * (high - low);
    }
    return ((line ^ sign) + KIWICHA_LOGISTIC_HALF + 512) >> 10;
}

static inline __attribute__((always_inline)) enum kiwicha_status
run(const struct kiwicha_memory *memory, const void *params,
    int32_t (*function)(const int16_t *, int32_t))
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_short_function *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    const int16_t *points = kiwicha_source(memory, &p->points);
    int16_t *output = kiwicha_target(memory, &p->output);
    const int32_t multiplier = (int32_t)p->multiplier;
    const int32_t half = (int32_t)((UINT32_C(1) << p->shift) >> 1);
    for (const int16_t *end = input + p->count; input != end; input++) {
        *output++ = (int16_t)function(points, (*input * multiplier + half) >> p->shift);
    }
    return KIWICHA_STATUS_OK;
}

enum kiwicha_status kiwicha_run_short_logistic(const struct kiwicha_memory *memory,
                                               const void *params)
{
    return run(memory, params, logistic);
}

enum kiwicha_status kiwicha_run_short_tanh(const struct kiwicha_memory *memory, const void *params)
{
    return run(memory, params, kiwicha_tanh_16);
}

enum kiwicha_status kiwicha_run_short_leaky_relu(const struct kiwicha_memory *memory,
                                                 const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_short_leaky_relu *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    int16_t *output = kiwicha_target(memory, &p->output);
    for (const int16_t *end = input + p->count; input != end; input++) {
        const int32_t x = *input;
        const bool is_kept = x >= 0;
        const int32_t scaled = kiwicha_rescale(x, is_kept ? p->multiplier : p->leak_multiplier,
                                               is_kept ? p->shift : p->leak_shift);
        const int32_t sign = is_kept ? 1 : p->leak_sign;
        const int32_t result = (int32_t)((uint32_t)scaled * (uint32_t)sign);
        *output++ = (int16_t)kiwicha_clamp(result, INT16_MIN, p->activation_max);
    }
    return KIWICHA_STATUS_OK;
}
