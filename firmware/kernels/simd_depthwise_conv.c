#include "check.h"
#include "kernels.h"
#include "simd_matrix.h"

#define EVERY_LANE 0x01010101u

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

/**
 * DEPTHWISE_CONV_2D with depth_multiplier 1 and a multiple of 4 channels; any kernel, stride,
 * dilation and padding. Kernels of 3x3 without dilation are the fast ones.
 *
 * tile_pixels and scratch: unused.
 */
KIWICHA_SMALL enum kiwicha_status
kiwicha_check_simd_depthwise_conv(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_conv *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_conv(&check, p, KIWICHA_CONV_DEPTHWISE, true);
    kiwicha_require(&check, p->depth_multiplier == 1);
    kiwicha_require(&check, p->weight_offset <= INT8_MAX);
    kiwicha_require(&check, p->input_channels % KIWICHA_LANES == 0);
    return check.status;
}

KIWICHA_INLINE uint32_t word_at(const int8_t *bytes)
{
    return *(const kiwicha_word *)(const void *)bytes;
}

/** Results that the CFU holds or is computing: `count` pixels, the first of them at `target`. */
struct results {
    int8_t *target;
    uint32_t count;
};

/** Pops all results and writes them. */
KIWICHA_INLINE void collect(struct results *results, uint32_t pitch)
{
    int8_t *target = results->target;
    for (uint32_t k = results->count; k > 0; k--) {
        *(kiwicha_word *)(void *)target = kiwicha_cfu_pop();
        target += pitch;
    }
    results->count = 0;
}

/** Collects what there is, then sends `count` pixels to the requantizer. */
KIWICHA_INLINE void finish(struct results *results, uint32_t pitch, int8_t *target, uint32_t count)
{
    collect(results, pitch);
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
    *results = (struct results){target, count};
}

/**
 * Adds one tap of any kernel to a pixel that has it in column x of the input, if inside.
 *
 * @param offset weights' offset, four times
 */
KIWICHA_INLINE void mac_tap(const uint32_t pixel, const int8_t *input_row, int32_t x, int32_t width,
                            uint32_t pitch, uint32_t weight, uint32_t offset)
{
    if (x >= 0 && x < width) {
        const uint32_t input = word_at(input_row + (uint32_t)x * pitch);
        kiwicha_cfu_mac_lanes(pixel, input, weight);
        kiwicha_cfu_mac_lanes(pixel, input, offset);
    }
}

/** Computes one output row of four channels, any kernel. */
KIWICHA_INLINE void run_row(const struct kiwicha_conv *p, const struct row *row,
                            struct results *results)
{
    const uint32_t pitch = p->input_channels;
    const int32_t width = (int32_t)p->input_width;
    const int32_t stride = (int32_t)p->stride_width;
    const uint32_t offset = (uint32_t)(uint8_t)p->weight_offset * EVERY_LANE;
    for (uint32_t out_x = 0; out_x < p->output_width; out_x += KIWICHA_PIXELS) {
        const uint32_t rest = p->output_width - out_x;
        const int32_t origin_x = (int32_t)(out_x * p->stride_width) - (int32_t)p->pad_left;
        const kiwicha_word *weights = row->weights;
        kiwicha_cfu_start();
        for (uint32_t tap_y = 0; tap_y < p->kernel_height; tap_y++) {
            const int32_t y = row->origin_y + (int32_t)(tap_y * p->dilation_height);
            if (y < 0 || y >= (int32_t)p->input_height) {
                weights += p->kernel_width;
                continue;
            }
            const int8_t *input_row = row->input + (uint32_t)y * p->input_width * pitch;
            for (uint32_t tap_x = 0; tap_x < p->kernel_width; tap_x++) {
                const int32_t x = origin_x + (int32_t)(tap_x * p->dilation_width);
                const uint32_t weight = *weights++;
                /* Pixels beyond the row are computed as well, and not collected. */
                mac_tap(0, input_row, x, width, pitch, weight, offset);
                mac_tap(1, input_row, x + stride, width, pitch, weight, offset);
                mac_tap(2, input_row, x + 2 * stride, width, pitch, weight, offset);
                mac_tap(3, input_row, x + 3 * stride, width, pitch, weight, offset);
            }
        }
        finish(results, pitch, row->output + out_x * pitch,
               rest < KIWICHA_PIXELS ? rest : KIWICHA_PIXELS);
    }
}

KIWICHA_INLINE struct rows_3x3 rows_of(const struct kiwicha_conv *p, const struct row *row)
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
                                const uint32_t stride, struct results *results)
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
        /* With stride 2 there are few such pixels: on-chip memory counts more. */
        if (stride == 1 && first >= 0 && first + columns <= width) {
            mac_pixels_3x3(&rows, stride, 0, first, width, pitch);
        } else {
            mac_pixels_3x3(&rows, stride, 1, first, width, pitch);
        }
        finish(results, pitch, output, count);
        output += count * pitch;
        first += (int32_t)(KIWICHA_PIXELS * stride);
        rest -= count;
    }
}

/** Returns how many output rows to compute before the next four channels have their turn. */
static uint32_t rows_per_pass(const struct kiwicha_conv *p)
{
    /* The rest of the cache is for weights, scales and the stack. */
    const uint32_t budget = KIWICHA_DATA_CACHE_BYTES - 512;
    const uint32_t fitting_rows = budget / (p->input_width * p->input_channels);
    const uint32_t kernel_rows = (p->kernel_height - 1) * p->dilation_height + 1;
    return fitting_rows < kernel_rows ? 1 : (fitting_rows - kernel_rows) / p->stride_height + 1;
}

/**
 * Computes some output rows of one batch, all channels.
 *
 * @param stride a constant: stride_width of a 3x3 kernel without dilation, or 0 for any kernel
 */
KIWICHA_INLINE void run_rows(const struct kiwicha_conv *p, const struct kiwicha_simd_layer *layer,
                             struct row first, uint32_t rows, const uint32_t stride,
                             struct results *results)
{
    const uint32_t pitch = p->output_width * p->output_channels;
    for (uint32_t channel = 0; channel < layer->channels; channel += KIWICHA_LANES) {
        struct row row = first;
        kiwicha_simd_load_lanes(layer, channel);
        for (uint32_t k = 0; k < rows; k++) {
            if (stride == 0) {
                run_row(p, &row, results);
            } else {
                run_row_3x3(p, &row, stride, results);
            }
            row.origin_y += (int32_t)p->stride_height;
            row.output += pitch;
        }
        first.input += KIWICHA_LANES;
        first.output += KIWICHA_LANES;
        first.weights += layer->group_words;
    }
}

/** Computes the whole layer; `stride` as for `run_rows`. */
KIWICHA_INLINE void run_layer(const struct kiwicha_memory *memory, const struct kiwicha_conv *p,
                              const uint32_t stride)
{
    const uint32_t taps = p->kernel_height * p->kernel_width;
    const struct kiwicha_simd_layer layer = kiwicha_simd_begin(memory, p, taps);
    const uint32_t rows_at_once = rows_per_pass(p);
    const int8_t *input = kiwicha_source(memory, &p->input);
    int8_t *output = kiwicha_target(memory, &p->output);
    struct results results = {output, 0};
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out_y = 0; out_y < p->output_height; out_y += rows_at_once) {
            const uint32_t rest = p->output_height - out_y;
            const uint32_t rows = rest < rows_at_once ? rest : rows_at_once;
            const struct row first = {
                .input = input,
                .weights = layer.weights,
                .output = output,
                .origin_y = (int32_t)(out_y * p->stride_height) - (int32_t)p->pad_top,
            };
            run_rows(p, &layer, first, rows, stride, &results);
            output += rows * p->output_width * p->output_channels;
        }
        input += p->input_height * p->input_width * p->input_channels;
    }
    collect(&results, p->output_channels);
}

/* Functions of their own, so that none runs out of registers. */

static __attribute__((noinline)) KIWICHA_SMALL void run_any(const struct kiwicha_memory *memory,
                                                            const struct kiwicha_conv *p)
{
    run_layer(memory, p, 0);
}

/* With an engine, which does nearly all layers, on-chip memory counts more than the rest's time. */
#if !KIWICHA_CONFIG_ENGINE_MACS
static __attribute__((noinline)) void run_3x3_stride_1(const struct kiwicha_memory *memory,
                                                       const struct kiwicha_conv *p)
{
    run_layer(memory, p, 1);
}

static __attribute__((noinline)) void run_3x3_stride_2(const struct kiwicha_memory *memory,
                                                       const struct kiwicha_conv *p)
{
    run_layer(memory, p, 2);
}
#endif

enum kiwicha_status kiwicha_run_simd_depthwise_conv(const struct kiwicha_memory *memory,
                                                    const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_conv *p = params;
#if KIWICHA_CONFIG_ENGINE_MACS
    run_any(memory, p);
#else
    if (p->kernel_height != 3 || p->kernel_width != 3 || p->dilation_height != 1 ||
        p->dilation_width != 1 || p->stride_width > 2 || p->weight_offset != 0) {
        run_any(memory, p);
    } else if (p->stride_width == 1) {
        run_3x3_stride_1(memory, p);
    } else {
        run_3x3_stride_2(memory, p);
    }
#endif
    return KIWICHA_STATUS_OK;
}
