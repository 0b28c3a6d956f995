#include <stddef.h>

#include "kernels.h"
#include "matrix_product.h"
#include "simd_matrix.h"

enum { WORD_BYTES = sizeof(kiwicha_word) };

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_simd_matrix_product(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_matrix_product *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_matrix_product(&check, p, true);
    kiwicha_require(&check, p->tile_rows >= KIWICHA_PIXELS);
    kiwicha_require(&check, p->tile_rows % KIWICHA_PIXELS == 0);
    kiwicha_require(&check, p->other_offset == 0 || p->tile_rows <= KIWICHA_SIMD_MAX_TILE);
    return check.status;
}

/**
 * Writes a row as words that lie `pitch` apart.
 *
 * @param fill what follows the row in its last word, four times
 */
static void copy_row(const int8_t *row, uint32_t bytes, kiwicha_word *to, uint32_t pitch,
                     uint32_t fill)
{
    const uint8_t *from = (const uint8_t *)row;
    const uint32_t rest = bytes % WORD_BYTES;
    const uint8_t *end = from + (bytes - rest);
    if (((uintptr_t)from & (WORD_BYTES - 1)) == 0) {
        for (; from != end; from += WORD_BYTES) {
            *to = *(const kiwicha_word *)(const void *)from;
            to += pitch;
        }
    } else {
        for (; from != end; from += WORD_BYTES) {
            const uint32_t a = from[0], b = from[1], c = from[2], d = from[3];
            *to = a | b << 8 | c << 16 | d << 24;
            to += pitch;
        }
    }
    if (rest > 0) {
        uint32_t word = fill << (8 * rest);
        for (uint32_t k = 0; k < rest; k++) {
            word |= (uint32_t)from[k] << (8 * k);
        }
        *to = word;
    }
}

/** Brings rows in fours to the order of weights; what is missing of the last four is 0. */
static void pack_rows(const int8_t *row, uint32_t rows, uint32_t depth, uint32_t words,
                      kiwicha_word *to)
{
    for (uint32_t k = 0; k < rows; k++) {
        const uint32_t lane = k % KIWICHA_LANES;
        copy_row(row, depth, to + lane, KIWICHA_LANES, 0);
        row += depth;
        to += lane == KIWICHA_LANES - 1 ? words * KIWICHA_LANES : 0;
    }
    for (uint32_t lane = rows % KIWICHA_LANES; lane != 0 && lane < KIWICHA_LANES; lane++) {
        for (uint32_t k = 0; k < words; k++) {
            to[k * KIWICHA_LANES + lane] = 0;
        }
    }
}

/** Writes bias, multiplier and shift of each column, one table after the other. */
static void write_tables(const struct kiwicha_matrix_product *p, const int32_t *bias,
                         uint32_t columns, int32_t *to)
{
    for (uint32_t k = 0; k < columns; k++) {
        to[k] = bias != NULL && k < p->columns ? bias[k] : 0;
        to[columns + k] = p->multiplier;
        to[2 * columns + k] = p->shift;
    }
}

enum kiwicha_status kiwicha_run_simd_matrix_product(const struct kiwicha_memory *memory,
                                                    const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_matrix_product *p = params;
    const uint32_t words = (p->depth + WORD_BYTES - 1) / WORD_BYTES;
    const uint32_t columns = (p->columns + KIWICHA_LANES - 1) / KIWICHA_LANES * KIWICHA_LANES;
    const bool is_copied = p->depth % WORD_BYTES != 0;
    int32_t *tables = kiwicha_target(memory, &p->scratch);
    kiwicha_word *packed = (kiwicha_word *)(void *)(tables + 3 * columns);
    kiwicha_word *copied = packed + columns * words;
    const int8_t *inputs = kiwicha_source(memory, &p->input);
    const int8_t *others = kiwicha_source(memory, &p->other);
    int8_t *output = kiwicha_target(memory, &p->output);
    write_tables(p, p->bias.bytes != 0 ? kiwicha_source(memory, &p->bias) : NULL, columns, tables);
    const struct kiwicha_simd_layer layer = {
        .weights = packed,
        .bias = tables,
        .multiplier = tables + columns,
        .shift = tables + 2 * columns,
        .group_words = KIWICHA_LANES * words,
        .channels = p->columns,
        .weight_offset = p->other_offset,
    };
    kiwicha_cfu_input_offset(p->input_offset);
    kiwicha_cfu_output(p->output_offset, p->activation_min, p->activation_max);
    /* A copied row ends with bytes that are 0 once the offset is added to them. */
    const uint32_t fill = ((uint32_t)-p->input_offset & 0xff) * 0x01010101u;
    const int8_t *last = NULL;
    for (uint32_t batch = 0; batch < kiwicha_batches(p); batch++) {
        const int8_t *input =
            inputs + kiwicha_matrix_of(p, p->input_steps, batch) * p->rows * p->depth;
        const int8_t *other =
            others + kiwicha_matrix_of(p, p->other_steps, batch) * p->columns * p->depth;
        if (other != last) {
            pack_rows(other, p->columns, p->depth, words, packed);
            last = other;
        }
        const kiwicha_word *rows = (const kiwicha_word *)(const void *)input;
        if (is_copied) {
            for (uint32_t row = 0; row < p->rows; row++) {
                copy_row(input + row * p->depth, p->depth, copied + row * words, 1, fill);
            }
            rows = copied;
        }
        kiwicha_simd_matrix(&layer, rows, p->rows, output, p->tile_rows);
        output += p->rows * p->columns;
    }
    return KIWICHA_STATUS_OK;
}
