/**
 * Dot products on the CFU, shared by the convolutions: four output channels (lanes) by up to four
 * pixels at a time.
 */
#ifndef KIWICHA_SIMD_MATRIX_H
#define KIWICHA_SIMD_MATRIX_H

#include <stdint.h>

#include "cfu.h"
#include "check.h"
#include "memory.h"

/** What all output channels of a layer share; pointers are those of its references. */
struct kiwicha_simd_layer {
    const kiwicha_word *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *shift;
    uint32_t group_words; /**< words of weights per four output channels */
    uint32_t channels;    /**< output channels */
};

/** Returns the layer of a convolution and sets the CFU's offsets and clamp. */
struct kiwicha_simd_layer kiwicha_simd_begin(const struct kiwicha_memory *memory,
                                             const struct kiwicha_conv *conv, uint32_t group_words);

/** Hands the CFU the biases and scales of four output channels from `channel` on. */
KIWICHA_INLINE void kiwicha_simd_load_lanes(const struct kiwicha_simd_layer *layer,
                                            uint32_t channel)
{
    const int32_t *bias = layer->bias + channel;
    const int32_t *multiplier = layer->multiplier + channel;
    const int32_t *shift = layer->shift + channel;
    int32_t bias_0 = bias[0], bias_1 = bias[1], bias_2 = bias[2], bias_3 = bias[3];
    kiwicha_cfu_bias(0, bias_0);
    kiwicha_cfu_bias(1, bias_1);
    kiwicha_cfu_bias(2, bias_2);
    kiwicha_cfu_bias(3, bias_3);
    int32_t multiplier_0 = multiplier[0], multiplier_1 = multiplier[1];
    int32_t multiplier_2 = multiplier[2], multiplier_3 = multiplier[3];
    int32_t shift_0 = shift[0], shift_1 = shift[1], shift_2 = shift[2], shift_3 = shift[3];
    kiwicha_cfu_scale(0, multiplier_0, shift_0);
    kiwicha_cfu_scale(1, multiplier_1, shift_1);
    kiwicha_cfu_scale(2, multiplier_2, shift_2);
    kiwicha_cfu_scale(3, multiplier_3, shift_3);
}

/** Words of four pixels, and of four lanes, at one position of the dot product. */
KIWICHA_INLINE void kiwicha_simd_mac_4x4(const kiwicha_word *pixel_0, const kiwicha_word *pixel_1,
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

/** As `kiwicha_simd_mac_4x4`, for pixel 0 alone. */
KIWICHA_INLINE void kiwicha_simd_mac_1x4(const kiwicha_word *pixel_0, const kiwicha_word *weights)
{
    const uint32_t a_0 = *pixel_0, w_0 = weights[0], w_1 = weights[1], w_2 = weights[2];
    const uint32_t w_3 = weights[3];
    kiwicha_cfu_mac(0, 0, a_0, w_0);
    kiwicha_cfu_mac(0, 1, a_0, w_1);
    kiwicha_cfu_mac(0, 2, a_0, w_2);
    kiwicha_cfu_mac(0, 3, a_0, w_3);
}

/** Adds a dot product of `words` words to all accumulators; returns the weights after it. */
KIWICHA_INLINE const kiwicha_word *kiwicha_simd_dot_4x4(const kiwicha_word *pixel_0,
                                                        const kiwicha_word *pixel_1,
                                                        const kiwicha_word *pixel_2,
                                                        const kiwicha_word *pixel_3,
                                                        const kiwicha_word *weights, uint32_t words)
{
    const kiwicha_word *end = weights + words * KIWICHA_LANES;
    const kiwicha_word *unrolled_end = weights + (words & ~3u) * KIWICHA_LANES;
    while (weights != unrolled_end) {
        kiwicha_simd_mac_4x4(pixel_0, pixel_1, pixel_2, pixel_3, weights);
        kiwicha_simd_mac_4x4(pixel_0 + 1, pixel_1 + 1, pixel_2 + 1, pixel_3 + 1, weights + 4);
        kiwicha_simd_mac_4x4(pixel_0 + 2, pixel_1 + 2, pixel_2 + 2, pixel_3 + 2, weights + 8);
        kiwicha_simd_mac_4x4(pixel_0 + 3, pixel_1 + 3, pixel_2 + 3, pixel_3 + 3, weights + 12);
        pixel_0 += 4;
        pixel_1 += 4;
        pixel_2 += 4;
        pixel_3 += 4;
        weights += 16;
    }
    while (weights != end) {
        kiwicha_simd_mac_4x4(pixel_0++, pixel_1++, pixel_2++, pixel_3++, weights);
        weights += KIWICHA_LANES;
    }
    return end;
}

/** As `kiwicha_simd_dot_4x4`, for pixel 0 alone. */
KIWICHA_INLINE const kiwicha_word *kiwicha_simd_dot_1x4(const kiwicha_word *pixel_0,
                                                        const kiwicha_word *weights, uint32_t words)
{
    const kiwicha_word *end = weights + words * KIWICHA_LANES;
    const kiwicha_word *unrolled_end = weights + (words & ~3u) * KIWICHA_LANES;
    while (weights != unrolled_end) {
        kiwicha_simd_mac_1x4(pixel_0, weights);
        kiwicha_simd_mac_1x4(pixel_0 + 1, weights + 4);
        kiwicha_simd_mac_1x4(pixel_0 + 2, weights + 8);
        kiwicha_simd_mac_1x4(pixel_0 + 3, weights + 12);
        pixel_0 += 4;
        weights += 16;
    }
    while (weights != end) {
        kiwicha_simd_mac_1x4(pixel_0++, weights);
        weights += KIWICHA_LANES;
    }
    return end;
}

/** Results that the CFU holds or is computing: `count` pixels, the first of them at `output`. */
struct kiwicha_simd_results {
    int8_t *output;
    uint32_t count;
};

/** Writes four int8, or the first `lanes` of them where the last group has fewer. */
KIWICHA_INLINE void kiwicha_simd_store(int8_t *output, uint32_t word, uint32_t lanes,
                                       uint32_t is_word)
{
    if (is_word) {
        *(kiwicha_word *)(void *)output = word;
        return;
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        output[lane] = (int8_t)(word >> (8 * lane));
    }
}

/**
 * Pops all results and writes them.
 *
 * @param pitch bytes from one pixel's output to the next
 * @param lanes channels to write, 1 to 4
 * @param is_word all four lanes are written and the output is word-aligned
 */
KIWICHA_INLINE void kiwicha_simd_collect(struct kiwicha_simd_results *results, uint32_t pitch,
                                         uint32_t lanes, uint32_t is_word)
{
    int8_t *output = results->output;
    for (uint32_t k = results->count; k > 0; k--) {
        kiwicha_simd_store(output, kiwicha_cfu_pop(), lanes, is_word);
        output += pitch;
    }
    results->count = 0;
}

/** Sends `count` pixels to the requantizer; the FIFO must have space for them. */
KIWICHA_INLINE void kiwicha_simd_push(struct kiwicha_simd_results *results, int8_t *output,
                                      uint32_t count)
{
    kiwicha_cfu_push(0);
    if (count > 1) {
        kiwicha_cfu_push(1);
    }
    if (count > 2) {
        kiwicha_cfu_push(2);
    }
    if (count > 3) {
        kiwicha_cfu_push(3);
    }
    results->output = output;
    results->count = count;
}

/**
 * Computes all output channels of the pixels of a plain matrix.
 *
 * @param input the first pixel, group_words / 4 words each, one after the other
 * @param pixels number of pixels
 * @param output the first pixel's first output channel
 * @param tile_pixels pixels per pass over the weights, multiple of 4
 */
void kiwicha_simd_matrix(const struct kiwicha_simd_layer *layer, const kiwicha_word *input,
                         uint32_t pixels, int8_t *output, uint32_t tile_pixels);

/** Requires what `kiwicha_simd_matrix` needs of input channels and tile. */
void kiwicha_require_simd_matrix(struct kiwicha_check *check, const struct kiwicha_conv *conv);

#endif
