#include "check.h"

static uint32_t round_up_to_word(uint32_t value)
{
    return value > UINT32_MAX - 3 ? UINT32_MAX : (value + 3) & ~3u;
}

KIWICHA_SMALL static uint32_t area(const uint32_t *batches_height_width, uint32_t channels)
{
    return kiwicha_saturating_multiply(kiwicha_saturating_product(batches_height_width, 3),
                                       channels);
}

/** Bytes of the weights; 0 where the channels do not fit together. */
KIWICHA_SMALL static uint32_t weights_bytes(const struct kiwicha_conv *conv,
                                            enum kiwicha_conv_kind kind, bool is_simd)
{
    uint32_t taps = conv->kernel_height * conv->kernel_width;
    if (kind == KIWICHA_CONV_DEPTHWISE) {
        return kiwicha_saturating_multiply(taps, conv->output_channels);
    }
    uint32_t window = kiwicha_saturating_multiply(taps, conv->input_channels);
    if (!is_simd) {
        return kiwicha_saturating_multiply(window, conv->output_channels);
    }
    return kiwicha_saturating_multiply(round_up_to_word(window),
                                       round_up_to_word(conv->output_channels));
}

KIWICHA_SMALL static void require_tables(struct kiwicha_check *check,
                                         const struct kiwicha_conv *conv, bool is_simd)
{
    uint32_t channels = is_simd ? round_up_to_word(conv->output_channels) : conv->output_channels;
    uint32_t bytes = kiwicha_saturating_multiply(channels, sizeof(int32_t));
    kiwicha_require_source(check, &conv->bias, bytes, sizeof(int32_t));
    kiwicha_require_source(check, &conv->multiplier, bytes, sizeof(int32_t));
    kiwicha_require_source(check, &conv->shift, bytes, sizeof(int32_t));
    /* A scale in the arena could change after this check. */
    kiwicha_require(check,
                    (conv->multiplier.offset & conv->shift.offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    if (check->status != KIWICHA_STATUS_OK) {
        return;
    }
    const int32_t *multiplier = kiwicha_source(check->memory, &conv->multiplier);
    const int32_t *shift = kiwicha_source(check->memory, &conv->shift);
    for (uint32_t k = 0; k < channels; k++) {
        kiwicha_require_scale(check, multiplier[k], shift[k]);
    }
}

KIWICHA_SMALL void kiwicha_require_conv(struct kiwicha_check *check,
                                        const struct kiwicha_conv *conv,
                                        enum kiwicha_conv_kind kind, bool is_simd)
{
    const uint32_t extents[] = {
        conv->input_height,    conv->input_width,    conv->output_height, conv->output_width,
        conv->kernel_height,   conv->kernel_width,   conv->stride_height, conv->stride_width,
        conv->dilation_height, conv->dilation_width,
    };
    const uint32_t count = sizeof(extents) / sizeof(extents[0]);
    kiwicha_require_extents(check, extents, count);
    kiwicha_require(check, conv->pad_top <= KIWICHA_MAX_EXTENT);
    kiwicha_require(check, conv->pad_left <= KIWICHA_MAX_EXTENT);
    if (kind == KIWICHA_CONV_DEPTHWISE) {
        kiwicha_require(check,
                        kiwicha_saturating_multiply(conv->input_channels, conv->depth_multiplier) ==
                            conv->output_channels);
    } else {
        kiwicha_require(check, conv->depth_multiplier == 1);
    }
    if (kind == KIWICHA_CONV_FULLY_CONNECTED) {
        for (uint32_t k = 0; k < count; k++) {
            kiwicha_require(check, extents[k] == 1);
        }
        kiwicha_require(check, conv->pad_top == 0 && conv->pad_left == 0);
    }
    if (check->status != KIWICHA_STATUS_OK) {
        return; /* the products below rely on the limits above */
    }
    const uint32_t input[] = {conv->batches, conv->input_height, conv->input_width};
    const uint32_t output[] = {conv->batches, conv->output_height, conv->output_width};
    uint32_t alignment = is_simd ? sizeof(kiwicha_word) : 1;
    kiwicha_require_source(check, &conv->input, area(input, conv->input_channels), alignment);
    kiwicha_require_target(check, &conv->output, area(output, conv->output_channels), alignment);
    kiwicha_require_source(check, &conv->weights, weights_bytes(conv, kind, is_simd), alignment);
    kiwicha_require_range(check, conv->input_offset, -127, 128);
    kiwicha_require_range(check, conv->weight_offset, -127, 128);
    kiwicha_require_output(check, conv->output_offset, conv->activation_min, conv->activation_max);
    require_tables(check, conv, is_simd);
}

/** Every window of one dimension holds at least one element of the input. */
KIWICHA_SMALL static bool windows_touch_input(uint32_t input, uint32_t output, uint32_t kernel,
                                              uint32_t stride, uint32_t pad)
{
    return pad < kernel && (output - 1) * stride < input + pad;
}

KIWICHA_SMALL void kiwicha_require_pool(struct kiwicha_check *check,
                                        const struct kiwicha_pool *pool, uint32_t alignment)
{
    const uint32_t extents[] = {
        pool->input_height,  pool->input_width,  pool->output_height, pool->output_width,
        pool->kernel_height, pool->kernel_width, pool->stride_height, pool->stride_width,
    };
    kiwicha_require_extents(check, extents, sizeof(extents) / sizeof(extents[0]));
    if (check->status != KIWICHA_STATUS_OK) {
        return;
    }
    kiwicha_require(check,
                    windows_touch_input(pool->input_height, pool->output_height,
                                        pool->kernel_height, pool->stride_height, pool->pad_top));
    kiwicha_require(check,
                    windows_touch_input(pool->input_width, pool->output_width, pool->kernel_width,
                                        pool->stride_width, pool->pad_left));
    const uint32_t input[] = {pool->batches, pool->input_height, pool->input_width};
    const uint32_t output[] = {pool->batches, pool->output_height, pool->output_width};
    kiwicha_require_source(check, &pool->input, area(input, pool->channels), alignment);
    kiwicha_require_target(check, &pool->output, area(output, pool->channels), alignment);
    kiwicha_require_output(check, 0, pool->activation_min, pool->activation_max);
    kiwicha_require(check, pool->offset >= 0 && pool->offset <= 128);
    uint32_t height =
        pool->kernel_height < pool->input_height ? pool->kernel_height : pool->input_height;
    uint32_t width =
        pool->kernel_width < pool->input_width ? pool->kernel_width : pool->input_width;
    kiwicha_require(check, height * width <= UINT32_C(1) << 22); /* int32 holds the sum */
}

KIWICHA_SMALL uint32_t kiwicha_strided_extent(const uint32_t *shape, const uint32_t *strides)
{
    uint64_t last = 0;
    for (uint32_t k = 0; k < KIWICHA_MAX_RANK; k++) {
        last += kiwicha_saturating_multiply(shape[k] - 1, strides[k]);
    }
    return last >= UINT32_MAX ? UINT32_MAX : (uint32_t)last + 1;
}

KIWICHA_SMALL void kiwicha_require_elementwise(struct kiwicha_check *check,
                                               const struct kiwicha_elementwise *elementwise,
                                               uint32_t alignment)
{
    const uint32_t *shape = elementwise->shape;
    uint32_t elements = kiwicha_saturating_product(shape, KIWICHA_MAX_RANK);
    kiwicha_require(check, elements != 0);
    if (check->status != KIWICHA_STATUS_OK) {
        return;
    }
    kiwicha_require_source(check, &elementwise->input_1,
                           kiwicha_strided_extent(shape, elementwise->strides_1), alignment);
    kiwicha_require_source(check, &elementwise->input_2,
                           kiwicha_strided_extent(shape, elementwise->strides_2), alignment);
    kiwicha_require_target(check, &elementwise->output, elements, alignment);
    kiwicha_require_range(check, elementwise->offset_1, -127, 128);
    kiwicha_require_range(check, elementwise->offset_2, -127, 128);
    kiwicha_require_output(check, elementwise->output_offset, elementwise->activation_min,
                           elementwise->activation_max);
    kiwicha_require(check, elementwise->left_shift <= 22); /* (x + offset) << 22 fits int32 */
    kiwicha_require_scale(check, elementwise->multiplier_1, elementwise->shift_1);
    kiwicha_require_scale(check, elementwise->multiplier_2, elementwise->shift_2);
    kiwicha_require_scale(check, elementwise->output_multiplier, elementwise->output_shift);
}
