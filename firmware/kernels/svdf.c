#include <stddef.h>

#include "check.h"
#include "kernels.h"
#include "requantize.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_svdf(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    const struct kiwicha_svdf *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t filters = kiwicha_saturating_multiply(p->units, p->rank);
    const uint32_t numbers = kiwicha_saturating_multiply(filters, p->steps);
    const uint32_t states[] = {p->batches, numbers, sizeof(int16_t)};
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(p->batches, p->inputs),
                           1);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_multiply(p->batches, p->units),
                           1);
    kiwicha_require_target(&check, &p->state, kiwicha_saturating_product(states, 3),
                           sizeof(int16_t));
    kiwicha_require_source(&check, &p->features, kiwicha_saturating_multiply(filters, p->inputs),
                           1);
    kiwicha_require_source(&check, &p->feature_bias,
                           kiwicha_saturating_multiply(filters, sizeof(int32_t)), sizeof(int32_t));
    kiwicha_require_source(&check, &p->time, kiwicha_saturating_multiply(numbers, sizeof(int16_t)),
                           sizeof(int16_t));
    kiwicha_require_source(&check, &p->bias, kiwicha_saturating_multiply(p->units, sizeof(int32_t)),
                           sizeof(int32_t));
    kiwicha_require_scale(&check, p->state_multiplier, p->state_shift);
    kiwicha_require_scale(&check, p->output_multiplier, p->output_shift);
    kiwicha_require_range(&check, p->output_offset, INT8_MIN, INT8_MAX);
    return check.status;
}

/** Returns a filter's newest number. */
static int16_t feature(const struct kiwicha_svdf *p, const int8_t *input, const int8_t *weights,
                       int32_t bias)
{
    uint32_t sum = (uint32_t)bias;
    for (uint32_t k = 0; k < p->inputs; k++) {
        sum += (uint32_t)(input[k] * weights[k]);
    }
    const int32_t scaled = kiwicha_rescale((int32_t)sum, p->state_multiplier, p->state_shift);
    return (int16_t)kiwicha_clamp(scaled, INT16_MIN, INT16_MAX);
}

/** Puts a number behind the others, of which the first is forgotten, and returns the product. */
static uint32_t filtered(int16_t *state, const int16_t *time, uint32_t steps, int16_t newest)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k + 1 < steps; k++) {
        const int16_t number = state[k + 1];
        state[k] = number;
        sum += (uint32_t)(number * time[k]);
    }
    state[steps - 1] = newest;
    return sum + (uint32_t)(newest * time[steps - 1]);
}

enum kiwicha_status kiwicha_run_svdf(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_svdf *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    const int32_t *bias = kiwicha_source(memory, &p->bias);
    int8_t *output = kiwicha_target(memory, &p->output);
    int16_t *state = kiwicha_target(memory, &p->state);
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        const int8_t *features = kiwicha_source(memory, &p->features);
        const int32_t *feature_bias = kiwicha_source(memory, &p->feature_bias);
        const int16_t *time = kiwicha_source(memory, &p->time);
        for (uint32_t unit = 0; unit < p->units; unit++) {
            uint32_t sum = (uint32_t)bias[unit];
            for (uint32_t k = 0; k < p->rank; k++) {
                const int16_t newest = feature(p, input, features, *feature_bias++);
                sum += filtered(state, time, p->steps, newest);
                features += p->inputs;
                time += p->steps;
                state += p->steps;
            }
            const int32_t scaled =
                kiwicha_rescale((int32_t)sum, p->output_multiplier, p->output_shift);
            const int32_t offset = p->output_offset;
            *output++ =
                (int8_t)(kiwicha_clamp(scaled, INT8_MIN - offset, INT8_MAX - offset) + offset);
        }
        input += p->inputs;
    }
    return KIWICHA_STATUS_OK;
}
