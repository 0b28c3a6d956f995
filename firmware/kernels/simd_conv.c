#include "check.h"
#include "kernels.h"
#include "simd_matrix.h"
#include "simd_window.h"

/** Returns tile_pixels * ceil(K / 4) * 4, K = kernel_height * kernel_width * input_channels. */
KIWICHA_SMALL static uint32_t scratch_bytes(const struct kiwicha_conv *conv)
{
    const uint32_t taps = kiwicha_saturating_multiply(conv->kernel_height, conv->kernel_width);
    const uint32_t window = kiwicha_saturating_multiply(taps, conv->input_channels);
    if (window > UINT32_MAX - 3) {
        return UINT32_MAX;
    }
    return kiwicha_saturating_multiply(conv->tile_pixels, (window + 3) & ~3u);
}

/**
 * CONV_2D with any kernel, stride, dilation, padding and channels. With input_channels a multiple
 * of 4 and dilation_width 1, windows inside the input are read in place; others are copied.
 *
 * tile_pixels: multiple of 4, 4 to 64.
 * scratch: `scratch_bytes` or more.
 */
KIWICHA_SMALL enum kiwicha_status kiwicha_check_simd_conv(const struct kiwicha_memory *memory,
                                                          const void *params)
{
    const struct kiwicha_conv *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_conv(&check, p, KIWICHA_CONV_FULL, true);
    kiwicha_require(&check, p->tile_pixels >= KIWICHA_PIXELS);
    kiwicha_require(&check, p->tile_pixels <= KIWICHA_SIMD_MAX_TILE);
    kiwicha_require(&check, p->tile_pixels % KIWICHA_PIXELS == 0);
    kiwicha_require_scratch(&check, &p->scratch, scratch_bytes(p));
    return check.status;
}

/** Adds the dot products of four windows; each is `runs` rows of `words` words. */
KIWICHA_INLINE void mac_windows(const struct kiwicha_simd_window *windows,
                                const kiwicha_word *weights, uint32_t runs, uint32_t words)
{
    const kiwicha_word *pixel_0 = windows[0].first, *pixel_1 = windows[1].first;
    const kiwicha_word *pixel_2 = windows[2].first, *pixel_3 = windows[3].first;
    for (;;) {
        weights = kiwicha_simd_dot_4x4(pixel_0, pixel_1, pixel_2, pixel_3, weights, words);
        if (--runs == 0) {
            return;
        }
        pixel_0 += windows[0].row_words;
        pixel_1 += windows[1].row_words;
        pixel_2 += windows[2].row_words;
        pixel_3 += windows[3].row_words;
    }
}

/** Computes four output channels of a tile. */
static void run_group(struct kiwicha_simd_group group, const struct kiwicha_simd_window *windows,
                      uint32_t pixels, uint32_t runs, uint32_t words, int8_t *target,
                      const struct kiwicha_simd_output output)
{
    /* Results are collected while the CFU works on the next four pixels. */
    int8_t *pending = NULL;
    for (;;) {
        const bool has_four = pixels >= KIWICHA_PIXELS;
        if (has_four) {
            kiwicha_simd_start(&group, false);
            mac_windows(windows, group.weights, runs, words);
        }
        if (pending != NULL) {
            kiwicha_simd_store_4(pending, &output);
        }
        if (!has_four) {
            break;
        }
        kiwicha_simd_push_4();
        pending = target;
        windows += KIWICHA_PIXELS;
        target += KIWICHA_PIXELS * output.pitch;
        pixels -= KIWICHA_PIXELS;
    }
    for (; pixels > 0; pixels--) {
        const kiwicha_word *pixel = windows->first;
        const kiwicha_word *row_weights = group.weights;
        kiwicha_simd_start(&group, true);
        for (uint32_t run = 0; run < runs; run++) {
            row_weights = kiwicha_simd_dot_1x4(pixel, row_weights, words);
            pixel += windows->row_words;
        }
        kiwicha_cfu_push(0);
        kiwicha_simd_store(target, &output);
        windows++;
        target += output.pitch;
    }
}

/** Computes all output channels of a tile. */
static void run_tile(const struct kiwicha_simd_layer *layer,
                     const struct kiwicha_simd_window *windows, uint32_t pixels, uint32_t runs,
                     uint32_t words, int8_t *output)
{
    int32_t sums[KIWICHA_SIMD_MAX_TILE];
    for (uint32_t k = 0; layer->weight_offset != 0 && k < pixels; k++) {
        sums[k] = kiwicha_simd_sum(layer, windows[k].first, runs, windows[k].row_words, words);
    }
    for (uint32_t channel = 0; channel < layer->channels; channel += KIWICHA_LANES) {
        const uint32_t left = layer->channels - channel;
        const struct kiwicha_simd_output stored = {layer->channels,
                                                   left < KIWICHA_LANES ? left : KIWICHA_LANES};
        kiwicha_simd_load_lanes(layer, channel);
        run_group(kiwicha_simd_group_at(layer, channel, sums), windows, pixels, runs, words,
                  output + channel, stored);
    }
}

enum kiwicha_status kiwicha_run_simd_conv(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_conv *p = params;
    struct kiwicha_simd_windows source = kiwicha_simd_windows_begin(memory, p);
    const struct kiwicha_simd_layer layer =
        kiwicha_simd_begin(memory, p, source.window_words * KIWICHA_LANES);
    const uint32_t runs = source.is_in_place ? p->kernel_height : 1;
    const uint32_t words = source.window_words / runs;
    struct kiwicha_simd_window windows[KIWICHA_SIMD_MAX_TILE];
    uint32_t pixels = p->batches * p->output_height * p->output_width;
    int8_t *output = kiwicha_target(memory, &p->output);
    while (pixels > 0) {
        const uint32_t count = pixels < p->tile_pixels ? pixels : p->tile_pixels;
        kiwicha_simd_windows_next(&source, windows, count);
        run_tile(&layer, windows, count, runs, words, output);
        output += count * p->output_channels;
        pixels -= count;
    }
    return KIWICHA_STATUS_OK;
}
