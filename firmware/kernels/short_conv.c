#include <stddef.h>

#include "check.h"
#include "kernels.h"
#include "long_sums.h"
#include "requantize.h"
#include "short_products.h"
#include "shorts.h"
#include "taps.h"

/** Whether sums have 64 bits. */
static inline bool has_long_sums(const struct kiwicha_conv *p)
{
    return p->bias.bytes / sizeof(int64_t) == p->output_channels;
}

KIWICHA_SMALL static enum kiwicha_status check_kind(const struct kiwicha_memory *memory,
                                                    const struct kiwicha_conv *p,
                                                    enum kiwicha_conv_kind kind)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    struct kiwicha_conv of_bytes = *p;
    of_bytes.input = kiwicha_as_bytes(p->input);
    of_bytes.output = kiwicha_as_bytes(p->output);
    of_bytes.bias = p->multiplier;
    of_bytes.activation_min = INT8_MIN;
    of_bytes.activation_max = INT8_MAX;
    kiwicha_require_conv(&check, &of_bytes, kind, false);
    kiwicha_require_shorts(&check, &p->input);
    kiwicha_require_short_output(&check, &p->output, p->activation_min, p->activation_max);
    kiwicha_require(&check, p->input_offset == 0 && p->weight_offset == 0 && p->output_offset == 0);
    const uint32_t sum_bytes = has_long_sums(p) ? sizeof(int64_t) : sizeof(int32_t);
    kiwicha_require_source(&check, &p->bias,
                           kiwicha_saturating_multiply(p->output_channels, sum_bytes), sum_bytes);
    if (check.status == KIWICHA_STATUS_OK && has_long_sums(p)) {
        const int32_t *shift = kiwicha_source(memory, &p->shift);
        for (uint32_t k = 0; k < p->output_channels; k++) {
            kiwicha_require(&check, shift[k] <= KIWICHA_MAX_LONG_SHIFT);
        }
    }
    return check.status;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_short_conv(const struct kiwicha_memory *memory,
                                                           const void *params)
{
    return check_kind(memory, params, KIWICHA_CONV_FULL);
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_short_depthwise_conv(const struct kiwicha_memory *memory, const void *params)
{
    return check_kind(memory, params, KIWICHA_CONV_DEPTHWISE);
}

/** Returns what a row of a kernel adds, whose taps are neighbours: so are inputs and weights. */
static inline int64_t joined_row(const struct kiwicha_conv *p, const int16_t *row,
                                 const int8_t *weight, int32_t origin)
{
    const int32_t end = (int32_t)p->input_width - origin;
    const uint32_t first = origin < 0 ? (uint32_t)-origin : 0;
    const uint32_t last =
        end < (int32_t)p->kernel_width ? (uint32_t)(end > 0 ? end : 0) : p->kernel_width;
    if (first >= last) {
        return 0;
    }
    const uint32_t channels = p->input_channels;
    return kiwicha_short_products(row + (origin + (int32_t)first) * (int32_t)channels,
                                  weight + first * channels, (last - first) * channels);
}

/** Returns what a window gives; taps of depthwise ones are a product each. */
static inline int64_t window_sum(const struct kiwicha_conv *p, const int16_t *channel,
                                 const int8_t *weight, const struct taps *rows,
                                 const struct taps *columns, const bool is_depthwise,
                                 const bool is_transposed)
{
    const uint32_t depth = is_depthwise ? 1 : p->input_channels;
    const uint32_t tap_step = is_depthwise ? p->output_channels : depth;
    const bool is_joined = !is_depthwise && !is_transposed && p->dilation_width == 1;
    int64_t sum = 0;
    for (uint32_t tap_y = 0; tap_y < p->kernel_height; tap_y++) {
        const uint32_t y = source_of(rows, tap_y, p->input_height, is_transposed);
        if (y == p->input_height) {
            weight += p->kernel_width * tap_step;
            continue;
        }
        const int16_t *row = channel + y * p->input_width * p->input_channels;
        if (is_joined) {
            sum += joined_row(p, row, weight, columns->origin);
            weight += p->kernel_width * tap_step;
            continue;
        }
        for (uint32_t tap_x = 0; tap_x < p->kernel_width; tap_x++) {
            const uint32_t x = source_of(columns, tap_x, p->input_width, is_transposed);
            if (x != p->input_width) {
                const int16_t *values = row + x * p->input_channels;
                sum += is_depthwise ? *values * *weight
                                    : kiwicha_short_products(values, weight, depth);
            }
            weight += tap_step;
        }
    }
    return sum;
}

static inline __attribute__((always_inline)) enum kiwicha_status
run(const struct kiwicha_memory *memory, const void *params, const bool is_depthwise,
    const bool is_transposed)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_conv *p = params;
    const int16_t *image = kiwicha_source(memory, &p->input);
    const int8_t *weights = kiwicha_source(memory, &p->weights);
    const void *bias = kiwicha_source(memory, &p->bias);
    const int32_t *multiplier = kiwicha_source(memory, &p->multiplier);
    const int32_t *shift = kiwicha_source(memory, &p->shift);
    int16_t *output = kiwicha_target(memory, &p->output);
    const bool is_long = has_long_sums(p);
    const uint32_t output_step =
        is_depthwise ? 1 : p->kernel_height * p->kernel_width * p->input_channels;

    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out_y = 0; out_y < p->output_height; out_y++) {
            const struct taps rows =
                taps_at(out_y, p->stride_height, p->dilation_height, p->pad_top, is_transposed);
            for (uint32_t out_x = 0; out_x < p->output_width; out_x++) {
                const struct taps columns =
                    taps_at(out_x, p->stride_width, p->dilation_width, p->pad_left, is_transposed);
                const int16_t *channel = image;
                uint32_t copy = 0;
                for (uint32_t out = 0; out < p->output_channels; out++) {
                    const int64_t sum = window_sum(p, channel, weights + out * output_step, &rows,
                                                   &columns, is_depthwise, is_transposed);
                    int32_t result;
                    if (is_long) {
                        const uint64_t total = (uint64_t)((const int64_t *)bias)[out];
                        result = kiwicha_rescale_long((int64_t)(total + (uint64_t)sum),
                                                      multiplier[out], shift[out]);
                    } else {
                        const int32_t start = ((const int32_t *)bias)[out];
                        result = kiwicha_rescale(kiwicha_wrapping_add(start, (int32_t)sum),
                                                 multiplier[out], shift[out]);
                    }
                    *output++ =
                        (int16_t)kiwicha_clamp(result, p->activation_min, p->activation_max);
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

/** CONV_2D and FULLY_CONNECTED; weights int8 OHWI. */
enum kiwicha_status kiwicha_run_short_conv(const struct kiwicha_memory *memory, const void *params)
{
    return run(memory, params, false, false);
}

/** DEPTHWISE_CONV_2D; weights int8 [1, H, W, output_channels]. */
enum kiwicha_status kiwicha_run_short_depthwise_conv(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    return run(memory, params, true, false);
}

/** TRANSPOSE_CONV; weights int8 OHWI. */
enum kiwicha_status kiwicha_run_short_transpose_conv(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    return run(memory, params, false, true);
}
