#include "check.h"
#include "index.h"
#include "kernels.h"
#include "requantize.h"

/** Finds the element of the input that a tap reads; false if there is none. */
KIWICHA_SMALL static bool find_source(uint32_t output, uint32_t pad, uint32_t tap, uint32_t stride,
                                      uint32_t size, uint32_t *input)
{
    const int32_t distance = (int32_t)(output + pad) - (int32_t)tap;
    *input = (uint32_t)distance / stride;
    return distance >= 0 && (uint32_t)distance % stride == 0 && *input < size;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_run_transpose_conv(const struct kiwicha_memory *memory,
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
    const uint32_t pixels = p->output_height * p->output_width;
    for (uint32_t pixel = 0; pixel < p->batches * pixels; pixel++) {
        const uint32_t batch = pixel / pixels;
        const uint32_t out_y = pixel % pixels / p->output_width;
        const uint32_t out_x = pixel % p->output_width;
        for (uint32_t out = 0; out < p->output_channels; out++) {
            uint32_t sum = (uint32_t)bias[out];
            for (uint32_t tap = 0; tap < p->kernel_height * p->kernel_width; tap++) {
                uint32_t y;
                uint32_t x;
                if (!find_source(out_y, p->pad_top, tap / p->kernel_width, p->stride_height,
                                 p->input_height, &y) ||
                    !find_source(out_x, p->pad_left, tap % p->kernel_width, p->stride_width,
                                 p->input_width, &x)) {
                    continue;
                }
                const int8_t *values = input + kiwicha_index(p->input_height, p->input_width,
                                                             p->input_channels, batch, y, x, 0);
                const int8_t *taps =
                    weights + (out * p->kernel_height * p->kernel_width + tap) * p->input_channels;
                for (uint32_t in = 0; in < p->input_channels; in++) {
                    sum += (uint32_t)(taps[in] * (values[in] + p->input_offset));
                }
            }
            int32_t result = kiwicha_rescale((int32_t)sum, multiplier[out], shift[out]);
            result = kiwicha_wrapping_add(result, p->output_offset);
            *output++ = (int8_t)kiwicha_clamp(result, p->activation_min, p->activation_max);
        }
    }
    return KIWICHA_STATUS_OK;
}
