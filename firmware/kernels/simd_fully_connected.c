#include "check.h"
#include "kernels.h"
#include "simd_matrix.h"

/**
 * FULLY_CONNECTED with input_channels a multiple of 4, any number of batches and outputs.
 *
 * tile_pixels: batches per pass over the weights, as pixels in `kiwicha_run_simd_conv_1x1`.
 * scratch: unused.
 */
KIWICHA_SMALL enum kiwicha_status
kiwicha_check_simd_fully_connected(const struct kiwicha_memory *memory, const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_conv(&check, params, KIWICHA_CONV_FULLY_CONNECTED, true);
    kiwicha_require_simd_matrix(&check, params);
    return check.status;
}

enum kiwicha_status kiwicha_run_simd_fully_connected(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_conv *p = params;
    const struct kiwicha_simd_layer layer = kiwicha_simd_begin(memory, p, p->input_channels);
    kiwicha_simd_matrix(&layer, kiwicha_source(memory, &p->input), p->batches,
                        kiwicha_target(memory, &p->output), p->tile_pixels);
    return KIWICHA_STATUS_OK;
}
