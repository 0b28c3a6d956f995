#include "check.h"
#include "kernels.h"
#include "requantize.h"
#include "taps.h"

#if KIWICHA_CONFIG_HAS_SIMD
/* One function for all kinds: where time counts, the instruction tier has its own. */
#define SPECIALIZED KIWICHA_SMALL static __attribute__((noinline))
#else
#define SPECIALIZED static inline __attribute__((always_inline))
#endif

KIWICHA_SMALL static enum kiwicha_status check_kind(const struct kiwicha_memory *memory,
                                                    const void *params, enum kiwicha_conv_kind kind)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_conv(&check, params, kind, false);
    return check.status;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_conv(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    return check_kind(memory, params, KIWICHA_CONV_FULL);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_depthwise_conv(const struct kiwicha_memory *memory,
                                                               const void *params)
{
    return check_kind(memory, params, KIWICHA_CONV_DEPTHWISE);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_fully_connected(const struct kiwicha_memory *memory,
                                                                const void *params)
{
    return check_kind(memory, params, KIWICHA_CONV_FULLY_CONNECTED);
}

SPECIALIZED enum kiwicha_status run(const struct kiwicha_memory *memory, const void *params,
                                    const bool is_depthwise, const bool is_transposed)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_conv *p = params;
    const int8_t *image = kiwicha_source(memory, &p->input);
    const int8_t *weights = kiwicha_source(memory, &p->weights);
    const int32_t *bias = kiwicha_source(memory, &p->bias);
    const int32_t *multiplier = kiwicha_source(memory, &p->multiplier);
    const int32_t *shift = kiwicha_source(memory, &p->shift);
    int8_t *output = kiwicha_target(memory, &p->output);
    /* Input channels of an output, and the distances of weights. */
    const uint32_t depth = is_depthwise ? 1 : p->input_channels;
    const uint32_t tap_step = is_depthwise ? p->output_channels : depth;
    const uint32_t output_step = is_depthwise ? 1 : p->kernel_height * p->kernel_width * depth;

    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out_y = 0; out_y < p->output_height; out_y++) {
            const struct taps rows =
                taps_at(out_y, p->stride_height, p->dilation_height, p->pad_top, is_transposed);
            for (uint32_t out_x = 0; out_x < p->output_width; out_x++) {
                const struct taps columns =
                    taps_at(out_x, p->stride_width, p->dilation_width, p->pad_left, is_transposed);
                const int8_t *channel = image;
                uint32_t copy = 0;
                for (uint32_t out = 0; out < p->output_channels; out++) {
                    const int8_t *weight = weights + out * output_step;
                    uint32_t sum = (uint32_t)bias[out];
                    for (uint32_t tap_y = 0; tap_y < p->kernel_height; tap_y++) {
                        const uint32_t y = source_of(&rows, tap_y, p->input_height, is_transposed);
                        if (y == p->input_height) {
                            weight += p->kernel_width * tap_step;
                            continue;
                        }
                        for (uint32_t tap_x = 0; tap_x < p->kernel_width; tap_x++) {
                            const uint32_t x =
                                source_of(&columns, tap_x, p->input_width, is_transposed);
                            if (x != p->input_width) {
                                const int8_t *values =
                                    channel + (y * p->input_width + x) * p->input_channels;
                                for (uint32_t in = 0; in < depth; in++) {
                                    sum += (uint32_t)((weight[in] + p->weight_offset) *
                                                      (values[in] + p->input_offset));
                                }
                            }
                            weight += tap_step;
                        }
                    }
                    int32_t result = kiwicha_rescale((int32_t)sum, multiplier[out], shift[out]);
                    result = kiwicha_wrapping_add(result, p->output_offset);
                    *output++ = (int8_t)kiwicha_clamp(result, p->activation_min, p->activation_max);
                    if (is_depthwise && ++copy == p->depth_multiplier) {
                        copy = 0;
                        channel++;
                    }
                }
            }
        }
        image += p->input_height * p->input_width * p->input_channels;
    }
    return KIWICHA_STATUS_OK;
}

/** CONV_2D; weights int8 OHWI. Taps outside the input count as its zero point. */
KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_conv(const struct kiwicha_memory *memory,
                                                      const void *params)
{
    return run(memory, params, false, false);
}

/** DEPTHWISE_CONV_2D; weights int8 [1, H, W, C]; output channel c reads c / depth_multiplier. */
KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_depthwise_conv(const struct kiwicha_memory *memory,
                                                                const void *params)
{
    return run(memory, params, true, false);
}

/** FULLY_CONNECTED; weights int8 [output_channels, input_channels]. */
KIWICHA_FALLBACK enum kiwicha_status
kiwicha_run_fully_connected(const struct kiwicha_memory *memory, const void *params)
{
    return kiwicha_run_conv(memory, params);
}

/**
 * TRANSPOSE_CONV; weights int8 OHWI, dilation 1. Input pixel y adds to output pixels
 * y * stride_height - pad_top and the following ones, x alike.
 */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_transpose_conv(const struct kiwicha_memory *memory,
                                                             const void *params)
{
    return run(memory, params, false, true);
}
