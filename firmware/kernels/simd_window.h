/** The windows of a convolution, as rows of words for the CFU. */
#ifndef KIWICHA_SIMD_WINDOW_H
#define KIWICHA_SIMD_WINDOW_H

#include <stdint.h>

#include "cfu.h"
#include "memory.h"
#include "simd_matrix.h"

/** Where one output pixel's window is. */
struct kiwicha_simd_window {
    const kiwicha_word *first;
    uint32_t row_words; /**< words from one row of the kernel to the next */
};

/** Goes through the output pixels of a convolution in their order in memory. */
struct kiwicha_simd_windows {
    const struct kiwicha_conv *conv;
    const int8_t *input; /**< of the current batch */
    kiwicha_word *scratch;
    uint32_t fill;         /**< four times the input's zero point */
    uint32_t window_words; /**< words of one window, the last padded with bytes of no effect */
    uint32_t is_in_place;  /**< windows inside the input are not copied */
    uint32_t pitch;        /**< bytes from one row of the input to the next */
    int32_t span_y;        /**< rows from the first to the last tap */
    int32_t span_x;        /**< columns from the first to the last tap */
    uint32_t out_y;
    uint32_t out_x;
    int32_t y; /**< row of the first tap, may be outside the input */
    int32_t x; /**< column of the first tap, may be outside the input */
};

/** Returns the windows from the first output pixel on. */
struct kiwicha_simd_windows kiwicha_simd_windows_begin(const struct kiwicha_memory *memory,
                                                       const struct kiwicha_conv *conv);

/**
 * Finds the windows of the next output pixels, copying those to scratch that cannot stay in place.
 *
 * With is_in_place a window is kernel_height rows, else a single one of window_words.
 *
 * @param windows where `count` entries are written
 * @param count at most tile_pixels; a call ends the use of the windows of the call before
 */
void kiwicha_simd_windows_next(struct kiwicha_simd_windows *source,
                               struct kiwicha_simd_window *windows, uint32_t count);

#endif
