#include "bilinear_packed.h"
#include "bilinear_wide.h"
#include "check.h"
#include "kernels.h"

#define NEAR_WORDS 72 /* two columns of 32 channels */

/** Requires pixels of the input; weights may be any, sums of their products wrap. */
KIWICHA_SMALL static void require_places(struct kiwicha_check *check,
                                         const struct kiwicha_ref *table, uint32_t outputs,
                                         uint32_t inputs)
{
    kiwicha_require_source(check, table, kiwicha_saturating_multiply(outputs, sizeof(struct place)),
                           sizeof(int32_t));
    kiwicha_require(check, (table->offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    if (check->status != KIWICHA_STATUS_OK) {
        return;
    }
    const struct place *places = kiwicha_source(check->memory, table);
    for (uint32_t k = 0; k < outputs; k++) {
        kiwicha_require(check, places[k].pixels[0] < inputs);
        kiwicha_require(check, places[k].pixels[1] < inputs);
    }
}

/** Words of working memory for one column of the input. */
static uint32_t column_words(const struct kiwicha_resize_bilinear *p)
{
    return p->channels / 4 * 4 + 4;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_resize_bilinear(const struct kiwicha_memory *memory,
                                                                const void *params)
{
    const struct kiwicha_resize_bilinear *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t input[] = {p->batches, p->input_height, p->input_width, p->channels};
    const uint32_t output[] = {p->batches, p->output_height, p->output_width, p->channels};
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_product(input, 4), 1);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_product(output, 4), 1);
    kiwicha_require(&check, (uint32_t)p->offset <= 128 && p->blend <= PACKED);
    require_places(&check, &p->rows, p->output_height, p->input_height);
    require_places(&check, &p->columns, p->output_width, p->input_width);
    /* The channels are at most the bytes of the input. */
    kiwicha_require_scratch(&check, &p->scratch, 2 * sizeof(kiwicha_word) * column_words(p));
    return check.status;
}

/** Which way a kernel call goes: compiled for each. */
enum way { PACKED_SIGNED, PACKED_UNSIGNED, WIDE_FIXED, WIDE_FLOAT };

/** Writes a row of the output; columns of the input are blended once for all between them. */
INLINED struct stream write_row(enum way way, const struct kiwicha_resize_bilinear *p,
                                const struct rows *rows, const struct place *columns, void *scratch,
                                struct stream stream)
{
    const bool is_packed = way == PACKED_SIGNED || way == PACKED_UNSIGNED;
    void *sides[2] = {scratch, (uint32_t *)scratch + column_words(p)};
    uint32_t pixels[2] = {UINT32_MAX, UINT32_MAX};
    for (uint32_t x = 0; x < p->output_width; x++) {
        const struct place *column = &columns[x];
        if (column->pixels[0] == pixels[1] && pixels[0] != pixels[1]) {
            /* What was right is left now. */
            void *other = sides[0];
            sides[0] = sides[1];
            sides[1] = other;
            pixels[0] = pixels[1];
            pixels[1] = UINT32_MAX;
        }
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t pixel = column->pixels[k];
            if (pixel == pixels[k]) {
                continue;
            }
            if (is_packed) {
                blend_rows(rows, pixel * p->channels, p->channels, sides[k]);
            } else {
                blend_wide_rows(p, rows, pixel * p->channels, sides[k]);
            }
            pixels[k] = pixel;
        }
        if (is_packed) {
            stream = write_packed(stream, sides[0], sides[1], column->weights, p->channels,
                                  way == PACKED_SIGNED);
        } else if (way == WIDE_FIXED) {
            stream = write_fixed(stream, sides[0], sides[1], column->weights, p);
        } else {
            write_float(&stream, sides[0], sides[1], rows, column, p);
        }
    }
    return stream;
}

typedef struct stream write_function(const struct kiwicha_resize_bilinear *p,
                                     const struct rows *rows, const struct place *columns,
                                     void *scratch, struct stream stream);

#define WRITE(name, way)                                                                           \
    static __attribute__((noinline)) struct stream name(                                           \
        const struct kiwicha_resize_bilinear *p, const struct rows *rows,                          \
        const struct place *columns, void *scratch, struct stream stream)                          \
    {                                                                                              \
        return write_row(way, p, rows, columns, scratch, stream);                                  \
    }

WRITE(write_packed_signed_row, PACKED_SIGNED)
WRITE(write_packed_unsigned_row, PACKED_UNSIGNED)
WRITE(write_fixed_row, WIDE_FIXED)
WRITE(write_float_row, WIDE_FLOAT)

/** RESIZE_BILINEAR: between two rows, and then between two columns of those. */
enum kiwicha_status kiwicha_run_resize_bilinear(const struct kiwicha_memory *memory,
                                                const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_resize_bilinear *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    const struct place *places = kiwicha_source(memory, &p->rows);
    const struct place *columns = kiwicha_source(memory, &p->columns);
    /* On-chip memory answers sooner than DRAM. */
    uint32_t near[NEAR_WORDS];
    void *scratch = kiwicha_target(memory, &p->scratch);
    if (2 * column_words(p) <= NEAR_WORDS) {
        scratch = near;
    }
    write_function *const packed =
        p->offset == 0 ? write_packed_signed_row : write_packed_unsigned_row;
    write_function *const wide = p->blend == FIXED ? write_fixed_row : write_float_row;
    write_function *const write = p->blend == PACKED ? packed : wide;
    struct stream stream = open_stream(kiwicha_target(memory, &p->output));
    const uint32_t row_bytes = p->input_width * p->channels;
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t y = 0; y < p->output_height; y++) {
            const struct rows rows = {input + places[y].pixels[0] * row_bytes,
                                      input + places[y].pixels[1] * row_bytes, &places[y]};
            stream = write(p, &rows, columns, scratch, stream);
        }
        input += p->input_height * row_bytes;
    }
    close_stream(&stream);
    return KIWICHA_STATUS_OK;
}
