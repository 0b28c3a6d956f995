#include "check.h"
#include "kernels.h"
#include "requantize.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_fully_connected(const struct kiwicha_memory *memory,
                                                                const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_conv(&check, params, KIWICHA_CONV_FULLY_CONNECTED, false);
    return check.status;
}

KIWICHA_FALLBACK enum kiwicha_status
kiwicha_run_fully_connected(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_conv *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    const int8_t *weights = kiwicha_source(memory, &p->weights);
    const int32_t *bias = kiwicha_source(memory, &p->bias);
    const int32_t *multiplier = kiwicha_source(memory, &p->multiplier);
    const int32_t *shift = kiwicha_source(memory, &p->shift);
    int8_t *output = kiwicha_target(memory, &p->output);

    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out = 0; out < p->output_channels; out++) {
            uint32_t sum = 0;
            for (uint32_t in = 0; in < p->input_channels; in++) {
                int32_t value = input[batch * p->input_channels + in];
                int32_t weight = weights[out * p->input_channels + in];
                sum += (uint32_t)(weight * (value + p->input_offset));
            }
            int32_t result =
                kiwicha_rescale((int32_t)(sum + (uint32_t)bias[out]), multiplier[out], shift[out]);
            result = kiwicha_clamp(kiwicha_wrapping_add(result, p->output_offset),
                                   p->activation_min, p->activation_max);
            output[batch * p->output_channels + out] = (int8_t)result;
        }
    }
    return KIWICHA_STATUS_OK;
}
