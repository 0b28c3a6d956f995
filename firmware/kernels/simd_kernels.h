/**
 * Kernels on the CFU's instruction tier. They give the same bytes as the portable kernels for the
 * same layer; `kernels.h` tells what their check and run functions return.
 *
 * All of them: input, weights, output and scratch start at multiples of 4. Convolutions take
 * weights in the order of `kiwicha.program.kernel_weights`, and bias, multiplier and shift padded
 * with zeros to `ceil(output_channels / 4) * 4` entries. One CFU has one state: a kernel runs to
 * its end before the next one starts.
 */
#ifndef KIWICHA_SIMD_KERNELS_H
#define KIWICHA_SIMD_KERNELS_H

#include "kernels.h"

/**
 * CONV_2D with a 1x1 kernel: strides 1, no padding, input_channels a multiple of 4, output height
 * and width those of the input.
 *
 * tile_pixels: multiple of 4, 4 or more; a tile's inputs (tile_pixels * input_channels bytes) and
 * the weights of four outputs (4 * input_channels bytes) should fit the data cache together.
 * scratch: unused.
 */
KIWICHA_DECLARE_CHECK(simd_conv_1x1);
KIWICHA_DECLARE_RUN(simd_conv_1x1);

/**
 * CONV_2D with any kernel, stride, dilation, padding and channels. With input_channels a multiple
 * of 4 and dilation_width 1, windows inside the input are read in place; others are copied.
 *
 * tile_pixels: multiple of 4, 4 to 64.
 * scratch: `kiwicha_simd_conv_scratch_bytes` or more.
 */
KIWICHA_DECLARE_CHECK(simd_conv);
KIWICHA_DECLARE_RUN(simd_conv);

/** Returns tile_pixels * ceil(K / 4) * 4, K = kernel_height * kernel_width * input_channels. */
uint32_t kiwicha_simd_conv_scratch_bytes(const struct kiwicha_conv *conv);

/**
 * DEPTHWISE_CONV_2D with depth_multiplier 1 and a multiple of 4 channels; any kernel, stride,
 * dilation and padding. Kernels of 3x3 without dilation are the fast ones.
 *
 * tile_pixels and scratch: unused.
 */
KIWICHA_DECLARE_CHECK(simd_depthwise_conv);
KIWICHA_DECLARE_RUN(simd_depthwise_conv);

/**
 * FULLY_CONNECTED with input_channels a multiple of 4, any number of batches and outputs.
 *
 * tile_pixels: batches per pass over the weights, as pixels in `kiwicha_run_simd_conv_1x1`.
 * scratch: unused.
 */
KIWICHA_DECLARE_CHECK(simd_fully_connected);
KIWICHA_DECLARE_RUN(simd_fully_connected);

/** ADD without broadcast: both inputs are row-major of the output's shape. Any element count. */
KIWICHA_DECLARE_CHECK(simd_add);
KIWICHA_DECLARE_RUN(simd_add);

/** MAX_POOL_2D with a multiple of 4 channels. */
KIWICHA_DECLARE_CHECK(simd_max_pool);
KIWICHA_DECLARE_RUN(simd_max_pool);

#endif
