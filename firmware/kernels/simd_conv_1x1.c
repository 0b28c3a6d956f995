#include "check.h"
#include "kernels.h"
#include "simd_matrix.h"

/**
 * CONV_2D with a 1x1 kernel: strides 1, no padding, input_channels a multiple of 4, output height
 * and width those of the input.
 *
 * tile_pixels: multiple of 4, 4 or more; a tile's inputs (tile_pixels * input_channels bytes) and
 * the weights of four outputs (4 * input_channels bytes) should fit the data cache together.
 * scratch: unused.
 */
KIWICHA_SMALL enum kiwicha_status kiwicha_check_simd_conv_1x1(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    const struct kiwicha_conv *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_conv(&check, p, KIWICHA_CONV_FULL, true);
    kiwicha_require_simd_matrix(&check, p);
    kiwicha_require(&check, p->kernel_height == 1 && p->kernel_width == 1);
    kiwicha_require(&check, p->stride_height == 1 && p->stride_width == 1);
    kiwicha_require(&check, p->pad_top == 0 && p->pad_left == 0);
    kiwicha_require(&check, p->output_height == p->input_height);
    kiwicha_require(&check, p->output_width == p->input_width);
    return check.status;
}

enum kiwicha_status kiwicha_run_simd_conv_1x1(const struct kiwicha_memory *memory,
                                              const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_conv *p = params;
    const struct kiwicha_simd_layer layer = kiwicha_simd_begin(memory, p, p->input_channels);
    kiwicha_simd_matrix(&layer, kiwicha_source(memory, &p->input),
                        p->batches * p->input_height * p->input_width,
                        kiwicha_target(memory, &p->output), p->tile_pixels);
    return KIWICHA_STATUS_OK;
}
