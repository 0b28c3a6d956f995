#include "check.h"
#include "simd_kernels.h"
#include "simd_matrix.h"

/** One output row of four channels; pointers are to the first of the four. */
struct row {
    const int8_t *input; /**< input row 0 */
    const kiwicha_word *weights;
    int8_t *output;   /**< output column 0 */
    int32_t origin_y; /**< input row of the first kernel row, may be outside */
};

/** The rows of the 3x3 kernel and of the input that one output row reads. */
struct rows_3x3 {
    kiwicha_word weights[9]; /**< zero where the kernel's row is outside the input */
    const int8_t *input[3];  /**< some row of the input where the kernel's row is outside */
};

enum kiwicha_status kiwicha_check_simd_depthwise_conv(const struct kiwicha_memory *memory,
                                                      const void *params)
{
    const struct kiwicha_conv *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_conv(&check, p, KIWICHA_CONV_DEPTHWISE, true);
    kiwicha_require(&check, p->depth_multiplier == 1);
    kiwicha_require(&check, p->input_channels % KIWICHA_LANES == 0);
    return check.status;
}

KIWICHA_INLINE uint32_t word_at(const int8_t *bytes)
{
    return *(const kiwicha_word *)(const void *)bytes;
}

/** Adds all taps of any kernel to one pixel. */
KIWICHA_INLINE void mac_pixel(const struct kiwicha_conv *p, const struct row *row,
                              const uint32_t pixel, uint32_t out_x)
{
    const int32_t origin_x = (int32_t)(out_x * p->stride_width) - (int32_t)p->pad_left;
    const kiwicha_word *weights = row->weights;
    for (uint32_t tap_y = 0; tap_y < p->kernel_height; tap_y++) {
        const int32_t y = row->origin_y + (int32_t)(tap_y * p->dilation_height);
        if (y < 0 || y >= (int32_t)p->input_height) {
            weights += p->kernel_width;
            continue;
        }
        for (uint32_t tap_x = 0; tap_x < p->kernel_width; tap_x++) {
            const int32_t x = origin_x + (int32_t)(tap_x * p->dilation_width);
            if (x >= 0 && x < (int32_t)p->input_width) {
                const uint32_t element = (uint32_t)y * p->input_width + (uint32_t)x;
                kiwicha_cfu_mac_lanes(pixel, word_at(row->input + element * p->input_channels),
                                      *weights);
            }
            weights++;
        }
    }
}

/** Computes one output row of four channels, any kernel. */
static void run_row(const struct kiwicha_conv *p, const struct row *row,
                    struct kiwicha_simd_results *results)
{
    const uint32_t channels = p->output_channels;
    for (uint32_t out_x = 0; out_x < p->output_width; out_x += KIWICHA_PIXELS) {
        const uint32_t rest = p->output_width - out_x;
        const uint32_t count = rest < KIWICHA_PIXELS ? rest : KIWICHA_PIXELS;
        kiwicha_cfu_start();
        mac_pixel(p, row, 0, out_x);
        if (count > 1) {
            mac_pixel(p, row, 1, out_x + 1);
        }
        if (count > 2) {
            mac_pixel(p, row, 2, out_x + 2);
        }
        if (count > 3) {
            mac_pixel(p, row, 3, out_x + 3);
        }
        kiwicha_simd_collect(results, channels, KIWICHA_LANES, 1);
        kiwicha_simd_push(results, row->output + out_x * channels, count);
    }
}

static struct rows_3x3 rows_of(const struct kiwicha_conv *p, const struct row *row)
{
    struct rows_3x3 rows;
    for (uint32_t tap_y = 0; tap_y < 3; tap_y++) {
        const int32_t y = row->origin_y + (int32_t)tap_y;
        const uint32_t is_inside = y >= 0 && y < (int32_t)p->input_height;
        for (uint32_t tap_x = 0; tap_x < 3; tap_x++) {
            rows.weights[tap_y * 3 + tap_x] = is_inside ? row->weights[tap_y * 3 + tap_x] : 0;
        }
        rows.input[tap_y] =
            row->input + (is_inside ? (uint32_t)y : 0) * p->input_width * p->input_channels;
    }
    return rows;
}

/** Adds one column of the input to a pixel that sees it at column `tap_x` of its window. */
KIWICHA_INLINE void mac_column(const struct rows_3x3 *rows, const uint32_t pixel,
                               const uint32_t tap_x, uint32_t a_0, uint32_t a_1, uint32_t a_2)
{
    kiwicha_cfu_mac_lanes(pixel, a_0, rows->weights[tap_x]);
    kiwicha_cfu_mac_lanes(pixel, a_1, rows->weights[3 + tap_x]);
    kiwicha_cfu_mac_lanes(pixel, a_2, rows->weights[6 + tap_x]);
}

/**
 * Adds all taps to four pixels, loading each column of the input once.
 *
 * @param stride stride_width, a constant
 * @param is_edge a constant; nonzero: columns may lie outside the input
 * @param first input column of the first pixel's first tap
 */
KIWICHA_INLINE void mac_pixels_3x3(const struct rows_3x3 *rows, const uint32_t stride,
                                   const uint32_t is_edge, int32_t first, int32_t width,
                                   uint32_t pitch)
{
    const uint32_t offset = (uint32_t)first * pitch; /* wraps where the first column is outside */
    uintptr_t column_0 = (uintptr_t)rows->input[0] + (uintptr_t)(intptr_t)(int32_t)offset;
    uintptr_t column_1 = (uintptr_t)rows->input[1] + (uintptr_t)(intptr_t)(int32_t)offset;
    uintptr_t column_2 = (uintptr_t)rows->input[2] + (uintptr_t)(intptr_t)(int32_t)offset;
#pragma GCC unroll 9
    for (uint32_t column = 0; column < (KIWICHA_PIXELS - 1) * stride + 3; column++) {
        const int32_t x = first + (int32_t)column;
        if (!is_edge || (x >= 0 && x < width)) {
            const uint32_t a_0 = word_at((const int8_t *)column_0);
            const uint32_t a_1 = word_at((const int8_t *)column_1);
            const uint32_t a_2 = word_at((const int8_t *)column_2);
#pragma GCC unroll 4
            for (uint32_t pixel = 0; pixel < KIWICHA_PIXELS; pixel++) {
                const uint32_t tap_x = column - pixel * stride;
                if (tap_x < 3) {
                    mac_column(rows, pixel, tap_x, a_0, a_1, a_2);
                }
            }
        }
        column_0 += pitch;
        column_1 += pitch;
        column_2 += pitch;
    }
}

/** Computes one output row of four channels with a 3x3 kernel; `stride` is a constant, 1 or 2. */
KIWICHA_INLINE void run_row_3x3(const struct kiwicha_conv *p, const struct row *row,
                                const uint32_t stride, struct kiwicha_simd_results *results)
{
    const struct rows_3x3 rows = rows_of(p, row);
    const uint32_t pitch = p->input_channels;
    const int32_t width = (int32_t)p->input_width;
    const int32_t columns = (int32_t)((KIWICHA_PIXELS - 1) * stride + 3);
    int32_t first = -(int32_t)p->pad_left;
    int8_t *output = row->output;
    uint32_t rest = p->output_width;
    while (rest > 0) {
        const uint32_t count = rest < KIWICHA_PIXELS ? rest : KIWICHA_PIXELS;
        kiwicha_cfu_start();
        if (first >= 0 && first + columns <= width) {
            mac_pixels_3x3(&rows, stride, 0, first, width, pitch);
        } else {
            mac_pixels_3x3(&rows, stride, 1, first, width, pitch);
        }
        kiwicha_simd_collect(results, pitch, KIWICHA_LANES, 1);
        kiwicha_simd_push(results, output, count);
        output += count * pitch;
        first += (int32_t)(KIWICHA_PIXELS * stride);
        rest -= count;
    }
}

static void run_row_3x3_stride_1(const struct kiwicha_conv *p, const struct row *row,
                                 struct kiwicha_simd_results *results)
{
    run_row_3x3(p, row, 1, results);
}

static void run_row_3x3_stride_2(const struct kiwicha_conv *p, const struct row *row,
                                 struct kiwicha_simd_results *results)
{
    run_row_3x3(p, row, 2, results);
}

typedef void row_function(const struct kiwicha_conv *p, const struct row *row,
                          struct kiwicha_simd_results *results);

static row_function *row_function_for(const struct kiwicha_conv *p)
{
    if (p->kernel_height != 3 || p->kernel_width != 3 || p->dilation_height != 1 ||
        p->dilation_width != 1 || p->stride_width > 2) {
        return run_row;
    }
    return p->stride_width == 1 ? run_row_3x3_stride_1 : run_row_3x3_stride_2;
}

enum kiwicha_status kiwicha_run_simd_depthwise_conv(const struct kiwicha_memory *memory,
                                                    const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_conv *p = params;
    const uint32_t taps = p->kernel_height * p->kernel_width;
    const struct kiwicha_simd_layer layer = kiwicha_simd_begin(memory, p, taps);
    row_function *compute_row = row_function_for(p);
    const int8_t *input = kiwicha_source(memory, &p->input);
    int8_t *output = kiwicha_target(memory, &p->output);
    struct kiwicha_simd_results results = {output, 0};
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out_y = 0; out_y < p->output_height; out_y++) {
            struct row row = {
                .input = input,
                .weights = layer.weights,
                .output = output,
                .origin_y = (int32_t)(out_y * p->stride_height) - (int32_t)p->pad_top,
            };
            for (uint32_t channel = 0; channel < layer.channels; channel += KIWICHA_LANES) {
                kiwicha_simd_load_lanes(&layer, channel);
                compute_row(p, &row, &results);
                row.input += KIWICHA_LANES;
                row.output += KIWICHA_LANES;
                row.weights += taps;
            }
            output += p->output_width * p->output_channels;
        }
        input += p->input_height * p->input_width * p->input_channels;
    }
    kiwicha_simd_collect(&results, p->output_channels, KIWICHA_LANES, 1);
    return KIWICHA_STATUS_OK;
}
