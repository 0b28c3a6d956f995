#include "simd_matrix.h"

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
    };
}

void kiwicha_require_simd_matrix(struct kiwicha_check *check, const struct kiwicha_conv *conv)
{
    kiwicha_require(check, conv->input_channels % 4 == 0);
    kiwicha_require(check, conv->tile_pixels >= KIWICHA_PIXELS);
    kiwicha_require(check, conv->tile_pixels % KIWICHA_PIXELS == 0);
}

/** Four output channels of some pixels. */
KIWICHA_INLINE void run_group(const kiwicha_word *weights, uint32_t words,
                              const kiwicha_word *input, uint32_t pixels, int8_t *output,
                              uint32_t pitch, uint32_t lanes, uint32_t is_word)
{
    struct kiwicha_simd_results results = {output, 0};
    while (pixels > 0) {
        /* Of two or three pixels, the last stands in for those that are missing. */
        const uint32_t count = pixels < KIWICHA_PIXELS ? pixels : KIWICHA_PIXELS;
        const kiwicha_word *pixel_1 = input + (count > 1 ? words : 0);
        const kiwicha_word *pixel_2 = pixel_1 + (count > 2 ? words : 0);
        const kiwicha_word *pixel_3 = pixel_2 + (count > 3 ? words : 0);
        kiwicha_cfu_start();
        if (count == 1) {
            kiwicha_simd_dot_1x4(input, weights, words);
        } else {
            kiwicha_simd_dot_4x4(input, pixel_1, pixel_2, pixel_3, weights, words);
        }
        kiwicha_simd_collect(&results, pitch, lanes, is_word);
        kiwicha_simd_push(&results, output, count);
        input += count * words;
        output += count * pitch;
        pixels -= count;
    }
    kiwicha_simd_collect(&results, pitch, lanes, is_word);
}

void kiwicha_simd_matrix(const struct kiwicha_simd_layer *layer, const kiwicha_word *input,
                         uint32_t pixels, int8_t *output, uint32_t tile_pixels)
{
    const uint32_t words = layer->group_words / KIWICHA_LANES;
    const uint32_t channels = layer->channels;
    const uint32_t is_word = channels % KIWICHA_LANES == 0;
    while (pixels > 0) {
        const uint32_t count = pixels < tile_pixels ? pixels : tile_pixels;
        const kiwicha_word *weights = layer->weights;
        for (uint32_t channel = 0; channel < channels; channel += KIWICHA_LANES) {
            const uint32_t left = channels - channel;
            const uint32_t lanes = left < KIWICHA_LANES ? left : KIWICHA_LANES;
            kiwicha_simd_load_lanes(layer, channel);
            run_group(weights, words, input, count, output + channel, channels, lanes, is_word);
            weights += layer->group_words;
        }
        input += count * words;
        output += count * channels;
        pixels -= count;
    }
}
