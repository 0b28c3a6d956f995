#include "check.h"
#include "index.h"
#include "kernels.h"
#include "requantize.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_depthwise_conv(const struct kiwicha_memory *memory,
                                                               const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_conv(&check, params, KIWICHA_CONV_DEPTHWISE, false);
    return check.status;
}

KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_depthwise_conv(const struct kiwicha_memory *memory,
                                                                const void *params)
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
    const int32_t height = (int32_t)p->input_height;
    const int32_t width = (int32_t)p->input_width;

    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out_y = 0; out_y < p->output_height; out_y++) {
            const int32_t origin_y = (int32_t)(out_y * p->stride_height) - (int32_t)p->pad_top;
            for (uint32_t out_x = 0; out_x < p->output_width; out_x++) {
                const int32_t origin_x = (int32_t)(out_x * p->stride_width) - (int32_t)p->pad_left;
                for (uint32_t in = 0; in < p->input_channels; in++) {
                    for (uint32_t copy = 0; copy < p->depth_multiplier; copy++) {
                        const uint32_t out = in * p->depth_multiplier + copy;
                        uint32_t sum = 0;
                        for (uint32_t tap_y = 0; tap_y < p->kernel_height; tap_y++) {
                            const int32_t y = origin_y + (int32_t)(tap_y * p->dilation_height);
                            for (uint32_t tap_x = 0; tap_x < p->kernel_width; tap_x++) {
                                const int32_t x = origin_x + (int32_t)(tap_x * p->dilation_width);
                                if (y < 0 || y >= height || x < 0 || x >= width) {
                                    continue;
                                }
                                int32_t value = input[kiwicha_index(p->input_height, p->input_width,
                                                                    p->input_channels, batch,
                                                                    (uint32_t)y, (uint32_t)x, in)];
                                int32_t weight = weights[kiwicha_index(
                                    p->kernel_height, p->kernel_width, p->output_channels, 0, tap_y,
                                    tap_x, out)];
                                sum += (uint32_t)(weight * (value + p->input_offset));
                            }
                        }
                        int32_t result = kiwicha_rescale((int32_t)(sum + (uint32_t)bias[out]),
                                                         multiplier[out], shift[out]);
                        result = kiwicha_clamp(kiwicha_wrapping_add(result, p->output_offset),
                                               p->activation_min, p->activation_max);
                        output[kiwicha_index(p->output_height, p->output_width, p->output_channels,
                                             batch, out_y, out_x, out)] = (int8_t)result;
                    }
                }
            }
        }
    }
    return KIWICHA_STATUS_OK;
}
