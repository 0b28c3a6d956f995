#include "simd_matrix.h"

#include "requantize.h"

/** Four weights of 1. */
#define KIWICHA_ONES 0x01010101u

struct kiwicha_simd_layer kiwicha_simd_begin(const struct kiwicha_memory *memory,
                                             const struct kiwicha_conv *conv, uint32_t group_words)
{
    kiwicha_cfu_input_offset(conv->input_offset);
    kiwicha_cfu_output(conv->output_offset, conv->activation_min, conv->activation_max);
    return (struct kiwicha_simd_layer){
        .weights = kiwicha_source(memory, &conv->weights),
        .bias = kiwicha_source(memory, &conv->bias),
        .multiplier = kiwicha_source(memory, &conv->multiplier),
        .shift = kiwicha_source(memory, &conv->shift),
        .group_words = group_words,
        .channels = conv->output_channels,
        .weight_offset = conv->weight_offset,
    };
}

KIWICHA_SMALL void kiwicha_require_simd_matrix(struct kiwicha_check *check,
                                               const struct kiwicha_conv *conv)
{
    kiwicha_require(check, conv->input_channels % 4 == 0);
    kiwicha_require(check, conv->tile_pixels >= KIWICHA_PIXELS);
    kiwicha_require(check, conv->tile_pixels % KIWICHA_PIXELS == 0);
    kiwicha_require(check, conv->weight_offset == 0 || conv->tile_pixels <= KIWICHA_SIMD_MAX_TILE);
}

/** Words of four pixels, and of four lanes, at one position of the dot product. */
KIWICHA_INLINE void mac_4x4(const kiwicha_word *pixel_0, const kiwicha_word *pixel_1,
                            const kiwicha_word *pixel_2, const kiwicha_word *pixel_3,
                            const kiwicha_word *weights)
{
    /* All loads come first: a load's result can be used without waiting two instructions later. */
    const uint32_t a_0 = *pixel_0, w_0 = weights[0], w_1 = weights[1], w_2 = weights[2];
    const uint32_t w_3 = weights[3], a_1 = *pixel_1, a_2 = *pixel_2, a_3 = *pixel_3;
    kiwicha_cfu_mac(0, 0, a_0, w_0);
    kiwicha_cfu_mac(0, 1, a_0, w_1);
    kiwicha_cfu_mac(0, 2, a_0, w_2);
    kiwicha_cfu_mac(0, 3, a_0, w_3);
    kiwicha_cfu_mac(1, 0, a_1, w_0);
    kiwicha_cfu_mac(1, 1, a_1, w_1);
    kiwicha_cfu_mac(1, 2, a_1, w_2);
    kiwicha_cfu_mac(1, 3, a_1, w_3);
    kiwicha_cfu_mac(2, 0, a_2, w_0);
    kiwicha_cfu_mac(2, 1, a_2, w_1);
    kiwicha_cfu_mac(2, 2, a_2, w_2);
    kiwicha_cfu_mac(2, 3, a_2, w_3);
    kiwicha_cfu_mac(3, 0, a_3, w_0);
    kiwicha_cfu_mac(3, 1, a_3, w_1);
    kiwicha_cfu_mac(3, 2, a_3, w_2);
    kiwicha_cfu_mac(3, 3, a_3, w_3);
}

/** As `mac_4x4`, for pixel 0 alone. */
KIWICHA_INLINE void mac_1x4(const kiwicha_word *pixel_0, const kiwicha_word *weights)
{
    const uint32_t a_0 = *pixel_0, w_0 = weights[0], w_1 = weights[1], w_2 = weights[2];
    const uint32_t w_3 = weights[3];
    kiwicha_cfu_mac(0, 0, a_0, w_0);
    kiwicha_cfu_mac(0, 1, a_0, w_1);
    kiwicha_cfu_mac(0, 2, a_0, w_2);
    kiwicha_cfu_mac(0, 3, a_0, w_3);
}

const kiwicha_word *kiwicha_simd_dot_4x4(const kiwicha_word *pixel_0, const kiwicha_word *pixel_1,
                                         const kiwicha_word *pixel_2, const kiwicha_word *pixel_3,
                                         const kiwicha_word *weights, uint32_t words)
{
    const kiwicha_word *end = weights + words * KIWICHA_LANES;
    const kiwicha_word *unrolled_end = weights + (words & ~3u) * KIWICHA_LANES;
    while (weights != unrolled_end) {
        mac_4x4(pixel_0, pixel_1, pixel_2, pixel_3, weights);
        mac_4x4(pixel_0 + 1, pixel_1 + 1, pixel_2 + 1, pixel_3 + 1, weights + 4);
        mac_4x4(pixel_0 + 2, pixel_1 + 2, pixel_2 + 2, pixel_3 + 2, weights + 8);
        mac_4x4(pixel_0 + 3, pixel_1 + 3, pixel_2 + 3, pixel_3 + 3, weights + 12);
        pixel_0 += 4;
        pixel_1 += 4;
        pixel_2 += 4;
        pixel_3 += 4;
        weights += 16;
    }
    while (weights != end) {
        mac_4x4(pixel_0++, pixel_1++, pixel_2++, pixel_3++, weights);
        weights += KIWICHA_LANES;
    }
    return end;
}

const kiwicha_word *kiwicha_simd_dot_1x4(const kiwicha_word *pixel_0, const kiwicha_word *weights,
                                         uint32_t words)
{
    const kiwicha_word *end = weights + words * KIWICHA_LANES;
    const kiwicha_word *unrolled_end = weights + (words & ~3u) * KIWICHA_LANES;
    while (weights != unrolled_end) {
        mac_1x4(pixel_0, weights);
        mac_1x4(pixel_0 + 1, weights + 4);
        mac_1x4(pixel_0 + 2, weights + 8);
        mac_1x4(pixel_0 + 3, weights + 12);
        pixel_0 += 4;
        weights += 16;
    }
    while (weights != end) {
        mac_1x4(pixel_0++, weights);
        weights += KIWICHA_LANES;
    }
    return end;
}

/** Starts one pixel; `pixel` is a constant. */
KIWICHA_INLINE void start_pixel(const uint32_t pixel, const int32_t *bias, int32_t sum)
{
    kiwicha_cfu_write(pixel, 0, kiwicha_wrapping_add(bias[0], sum));
    kiwicha_cfu_write(pixel, 1, kiwicha_wrapping_add(bias[1], sum));
    kiwicha_cfu_write(pixel, 2, kiwicha_wrapping_add(bias[2], sum));
    kiwicha_cfu_write(pixel, 3, kiwicha_wrapping_add(bias[3], sum));
}

void kiwicha_simd_start_sums(const struct kiwicha_simd_group *group, bool is_alone)
{
    start_pixel(0, group->bias, group->sums[0]);
    if (!is_alone) {
        start_pixel(1, group->bias, group->sums[1]);
        start_pixel(2, group->bias, group->sums[2]);
        start_pixel(3, group->bias, group->sums[3]);
    }
}

int32_t kiwicha_simd_sum(const struct kiwicha_simd_layer *layer, const kiwicha_word *row,
                         uint32_t rows, uint32_t row_words, uint32_t words)
{
    kiwicha_cfu_write(0, 0, 0);
    for (; rows > 0; rows--) {
        const kiwicha_word *end = row + words;
        for (const kiwicha_word *word = row; word != end; word++) {
            kiwicha_cfu_mac(0, 0, *word, KIWICHA_ONES);
        }
        row += row_words;
    }
    return (int32_t)((uint32_t)layer->weight_offset * (uint32_t)kiwicha_cfu_read(0, 0));
}

void kiwicha_simd_store_bytes(int8_t *target, uint32_t word, uint32_t lanes)
{
    for (uint32_t lane = 0; lane < lanes; lane++) {
        target[lane] = (int8_t)(word >> (8 * lane));
    }
}

/** Four output channels of some pixels. */
static void run_group(struct kiwicha_simd_group group, uint32_t words, const kiwicha_word *input,
                      uint32_t pixels, int8_t *target, const struct kiwicha_simd_output output)
{
    /* Results are collected while the CFU works on the next four pixels. */
    int8_t *pending = NULL;
    for (;;) {
        const bool has_four = pixels >= KIWICHA_PIXELS;
        if (has_four) {
            kiwicha_simd_start(&group, false);
            kiwicha_simd_dot_4x4(input, input + words, input + 2 * words, input + 3 * words,
                                 group.weights, words);
        }
        if (pending != NULL) {
            kiwicha_simd_store_4(pending, &output);
        }
        if (!has_four) {
            break;
        }
        kiwicha_simd_push_4();
        pending = target;
        input += KIWICHA_PIXELS * words;
        target += KIWICHA_PIXELS * output.pitch;
        pixels -= KIWICHA_PIXELS;
    }
    for (; pixels > 0; pixels--) {
        kiwicha_simd_start(&group, true);
        kiwicha_simd_dot_1x4(input, group.weights, words);
        kiwicha_cfu_push(0);
        kiwicha_simd_store(target, &output);
        input += words;
        target += output.pitch;
    }
}

void kiwicha_simd_matrix(const struct kiwicha_simd_layer *layer, const kiwicha_word *input,
                         uint32_t pixels, int8_t *output, uint32_t tile_pixels)
{
    const uint32_t words = layer->group_words / KIWICHA_LANES;
    const uint32_t channels = layer->channels;
    int32_t sums[KIWICHA_SIMD_MAX_TILE];
    while (pixels > 0) {
        const uint32_t count = pixels < tile_pixels ? pixels : tile_pixels;
        for (uint32_t k = 0; layer->weight_offset != 0 && k < count; k++) {
            sums[k] = kiwicha_simd_sum(layer, input + k * words, 1, 0, words);
        }
        for (uint32_t channel = 0; channel < channels; channel += KIWICHA_LANES) {
            const uint32_t left = channels - channel;
            const struct kiwicha_simd_output stored = {channels,
                                                       left < KIWICHA_LANES ? left : KIWICHA_LANES};
            kiwicha_simd_load_lanes(layer, channel);
            run_group(kiwicha_simd_group_at(layer, channel, sums), words, input, count,
                      output + channel, stored);
        }
        input += count * words;
        output += count * channels;
        pixels -= count;
    }
}
