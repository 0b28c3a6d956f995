/**
 * Dot products on the CFU, shared by the convolutions: four output channels (lanes) by up to four
 * pixels at a time.
 */
#ifndef KIWICHA_SIMD_MATRIX_H
#define KIWICHA_SIMD_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfu.h"
#include "check.h"
#include "memory.h"

/** Largest tile_pixels where a tile's windows or sums are listed on the stack. */
#define KIWICHA_SIMD_MAX_TILE 64u

/** What all output channels of a layer share; pointers are those of its references. */
struct kiwicha_simd_layer {
    const kiwicha_word *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *shift;
    uint32_t group_words; /**< words of weights per four output channels */
    uint32_t channels;    /**< output channels */
    int32_t weight_offset;
};

/**
 * Four output channels of a tile.
 *
 * The offset of the weights adds the same to all output channels of a pixel: `weight_offset` times
 * the sum of the pixel's inputs.
 */
struct kiwicha_simd_group {
    const kiwicha_word *weights;
    const int32_t *bias; /**< of the first channel */
    const int32_t *sums; /**< what the weights' offset adds to each pixel, or null */
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

/**
 * Adds the dot products of four pixels and four lanes to all accumulators.
 *
 * A function of its own needs no more than the registers that calls may overwrite, so its callers
 * keep their state in the others: the stack is out of the inner loops.
 *
 * @param pixel_0 first of `words` words
 * @param weights first of `words` times four words
 * @return the word after the weights
 */
const kiwicha_word *kiwicha_simd_dot_4x4(const kiwicha_word *pixel_0, const kiwicha_word *pixel_1,
                                         const kiwicha_word *pixel_2, const kiwicha_word *pixel_3,
                                         const kiwicha_word *weights, uint32_t words);

/** As `kiwicha_simd_dot_4x4`, for pixel 0 alone. */
const kiwicha_word *kiwicha_simd_dot_1x4(const kiwicha_word *pixel_0, const kiwicha_word *weights,
                                         uint32_t words);

/** Returns the group of output channels from `channel` on. */
KIWICHA_INLINE struct kiwicha_simd_group
kiwicha_simd_group_at(const struct kiwicha_simd_layer *layer, uint32_t channel, const int32_t *sums)
{
    return (struct kiwicha_simd_group){
        layer->weights + channel / KIWICHA_LANES * layer->group_words,
        layer->bias + channel,
        layer->weight_offset == 0 ? NULL : sums,
    };
}

/** Starts the accumulators of four pixels, or of pixel 0 alone, whose sums are the next ones. */
void kiwicha_simd_start_sums(const struct kiwicha_simd_group *group, bool is_alone);

/** Starts the accumulators of four pixels, or of pixel 0 alone, and goes on to the next ones. */
KIWICHA_INLINE void kiwicha_simd_start(struct kiwicha_simd_group *group, bool is_alone)
{
    if (group->sums == NULL) {
        kiwicha_cfu_start();
    } else {
        kiwicha_simd_start_sums(group, is_alone);
        group->sums += is_alone ? 1 : KIWICHA_PIXELS;
    }
}

/** Returns what the weights' offset adds to a window: rows of `words` words. */
int32_t kiwicha_simd_sum(const struct kiwicha_simd_layer *layer, const kiwicha_word *row,
                         uint32_t rows, uint32_t row_words, uint32_t words);

/** How a layer's results lie in memory. */
struct kiwicha_simd_output {
    uint32_t pitch; /**< bytes from one pixel to the next */
    uint32_t lanes; /**< channels that the current group has, 1 to 4 */
};

/** Writes the bytes of a group that has fewer than four channels or is not word-aligned. */
void kiwicha_simd_store_bytes(int8_t *target, uint32_t word, uint32_t lanes);

/** Pops one pixel's result and writes it. */
KIWICHA_INLINE void kiwicha_simd_store(int8_t *target, const struct kiwicha_simd_output *output)
{
    const uint32_t word = kiwicha_cfu_pop();
    if (output->pitch % KIWICHA_LANES == 0) {
        *(kiwicha_word *)(void *)target = word;
    } else {
        kiwicha_simd_store_bytes(target, word, output->lanes);
    }
}

/** Pops the results of four pixels and writes them. */
KIWICHA_INLINE void kiwicha_simd_store_4(int8_t *target, const struct kiwicha_simd_output *output)
{
    kiwicha_simd_store(target, output);
    kiwicha_simd_store(target + output->pitch, output);
    kiwicha_simd_store(target + 2 * output->pitch, output);
    kiwicha_simd_store(target + 3 * output->pitch, output);
}

/** Sends four pixels to the requantizer, whose FIFO must be empty. */
KIWICHA_INLINE void kiwicha_simd_push_4(void)
{
    kiwicha_cfu_push(0);
    kiwicha_cfu_push(1);
    kiwicha_cfu_push(2);
    kiwicha_cfu_push(3);
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
