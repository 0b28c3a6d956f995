#include "check.h"
#include "kernels.h"

/* How values are weighted: `kiwicha.kernels.resize_bilinear.Blend`. */
#define FIXED 0
#define FLOAT 1
#define PACKED 2

#define FRACTIONS 20      /* bits of a product of two distances */
#define PLACES 52         /* bits behind the point of a sum of float32 numbers */
#define PRECISION 24      /* bits of a float32's significand */
#define EXPONENT 6        /* low bits of a weight that say how far its significand goes down */
#define NEAR_FRACTIONS 22 /* bits behind the point of a sum that is nearly that of float32 */
/* More than such a sum can be beside that of float32: 2**-12. */
#define DOUBT (INT32_C(1) << (NEAR_FRACTIONS - 12))
/* Bits that a weight in Q0.31 has not, if it is in 1/128: nothing is rounded between such. */
#define LONG_BITS ((UINT32_C(1) << (31 - 7)) - 1)

/* Registers hold a stream only where no call stands between. */
#define INLINED static inline __attribute__((always_inline))
#define NEAR_WORDS 72 /* two columns of 32 channels */
#define LANES UINT32_C(0x00ff00ff)
#define ONES UINT32_C(0x00010001)
#define SIGNS UINT32_C(0x80808080)

/** An output's place along one dimension: between two pixels, with their weights. */
struct place {
    uint32_t pixels[2];
    int32_t weights[2];
};

/** Bytes that are written one after the other, in whole words. */
struct stream {
    kiwicha_word *to;
    uint32_t pending; /**< the first bits of the next word */
    uint32_t bits;    /**< their number, 0 to 24 */
};

/** The two rows that an output row lies between, and how they are weighted. */
struct rows {
    const int8_t *upper;
    const int8_t *lower;
    const struct place *place;
};

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

INLINED void put(struct stream *stream, uint32_t word)
{
    if (stream->bits == 0) {
        *stream->to++ = word;
        return;
    }
    *stream->to++ = stream->pending | word << stream->bits;
    stream->pending = word >> (32 - stream->bits);
}

/** Writes 1 to 3 bytes, the low ones of a word whose others are 0. */
INLINED void put_bytes(struct stream *stream, uint32_t word, uint32_t count)
{
    const uint32_t bits = stream->bits + 8 * count;
    stream->pending |= word << stream->bits;
    if (bits >= 32) {
        *stream->to++ = stream->pending;
        /* Not all bits of the word went, so that it is shifted by less than 32. */
        stream->pending = bits == 32 ? 0 : word >> (32 - stream->bits);
    }
    stream->bits = bits % 32;
}

KIWICHA_SMALL static struct stream open_stream(uint8_t *to)
{
    const uint32_t bytes = (uint32_t)((uintptr_t)to & 3);
    struct stream stream = {(kiwicha_word *)(void *)(to - bytes), 0, 8 * bytes};
    for (uint32_t k = 0; k < bytes; k++) {
        stream.pending |= (uint32_t)to[(int32_t)k - (int32_t)bytes] << (8 * k);
    }
    return stream;
}

KIWICHA_SMALL static void close_stream(const struct stream *stream)
{
    uint8_t *to = (uint8_t *)stream->to;
    for (uint32_t bits = 0; bits < stream->bits; bits += 8) {
        *to++ = (uint8_t)(stream->pending >> bits);
    }
}

/* ------------------------------------------------------------------------------ short weights */

/** Returns 1 to 4 bytes of a pixel, as numbers from 0 on. */
INLINED uint32_t bytes_of(const int8_t *from, uint32_t count)
{
    const uint8_t *bytes = (const uint8_t *)from;
    if (count >= 4) {
        if (((uintptr_t)bytes & 3) == 0) {
            return *(const kiwicha_word *)(const void *)bytes ^ SIGNS;
        }
        return (bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                (uint32_t)bytes[3] << 24) ^
               SIGNS;
    }
    uint32_t word = 0;
    for (uint32_t k = 0; k < count; k++) {
        word |= (uint32_t)(bytes[k] ^ 0x80) << (8 * k);
    }
    return word;
}

/** Blends one pixel of two rows: of each 4 channels a word of the even ones, and of the odd ones.
 */
static __attribute__((noinline)) void blend_rows(const struct rows *rows, uint32_t first,
                                                 uint32_t channels, uint32_t *to)
{
    const uint32_t above = (uint32_t)rows->place->weights[0];
    const uint32_t below = (uint32_t)rows->place->weights[1];
    /* Half a step of the output, before the weights of the columns. */
    const uint32_t half = (above + below) / 2 * ONES;
    const int8_t *upper = rows->upper + first, *lower = rows->lower + first;
    for (uint32_t c = 0; c < channels; c += 4) {
        const uint32_t a = bytes_of(upper + c, channels - c);
        const uint32_t b = bytes_of(lower + c, channels - c);
        *to++ = (a & LANES) * above + (b & LANES) * below + half;
        *to++ = (a >> 8 & LANES) * above + (b >> 8 & LANES) * below + half;
    }
}

/** Returns sums where a half is rounded away from what 128 stands for. */
INLINED uint32_t away_from_zero(uint32_t sums)
{
    const uint32_t less = sums - ONES;
    return less + (less >> 15 & ONES);
}

INLINED uint32_t between(const uint32_t *left, const uint32_t *right, uint32_t nearer,
                         uint32_t farther, bool is_signed)
{
    uint32_t even = left[0] * nearer + right[0] * farther;
    uint32_t odd = left[1] * nearer + right[1] * farther;
    if (is_signed) {
        even = away_from_zero(even);
        odd = away_from_zero(odd);
    }
    return ((even >> 8 & LANES) | (odd & ~LANES)) ^ SIGNS;
}

/** Writes one pixel; of each channel the sum of products is 256 times the output. */
INLINED struct stream write_packed(struct stream stream, const uint32_t *left,
                                   const uint32_t *right, const int32_t *weights, uint32_t channels,
                                   bool is_signed)
{
    const uint32_t nearer = (uint32_t)weights[0], farther = (uint32_t)weights[1];
    const uint32_t *end = left + channels / 4 * 2;
    const uint32_t bits = stream.bits;
    kiwicha_word *to = stream.to;
    if (bits == 0) {
        for (; left + 2 < end; left += 4, right += 4, to += 2) {
            to[0] = between(left, right, nearer, farther, is_signed);
            to[1] = between(left + 2, right + 2, nearer, farther, is_signed);
        }
        for (; left < end; left += 2, right += 2) {
            *to++ = between(left, right, nearer, farther, is_signed);
        }
    } else {
        uint32_t pending = stream.pending;
        for (; left + 2 < end; left += 4, right += 4, to += 2) {
            const uint32_t first = between(left, right, nearer, farther, is_signed);
            const uint32_t second = between(left + 2, right + 2, nearer, farther, is_signed);
            to[0] = pending | first << bits;
            to[1] = first >> (32 - bits) | second << bits;
            pending = second >> (32 - bits);
        }
        for (; left < end; left += 2, right += 2) {
            const uint32_t word = between(left, right, nearer, farther, is_signed);
            *to++ = pending | word << bits;
            pending = word >> (32 - bits);
        }
        stream.pending = pending;
    }
    stream.to = to;
    if (channels % 4 != 0) {
        const uint32_t mask = (UINT32_C(1) << (8 * (channels % 4))) - 1;
        const uint32_t word = between(left, right, nearer, farther, is_signed);
        put_bytes(&stream, word & mask, channels % 4);
    }
    return stream;
}

/* ------------------------------------------------------------------------------- long weights */

/** Returns x, a signed number, rounded to the significant bits of a float32, half to even. */
KIWICHA_SMALL static __attribute__((noinline)) uint64_t rounded(uint64_t x)
{
    const uint64_t magnitude = (int64_t)x < 0 ? -x : x;
    uint64_t half = 0;
    for (uint64_t next = UINT64_C(1) << PRECISION; next != 0 && next <= magnitude; next += next) {
        half += half + (half == 0);
    }
    const uint64_t unit = half + half;
    return half == 0 ? x : (x + half - ((x & unit) == 0)) & -unit;
}

/** Returns the weighted sum of four values in float32; half goes up. */
KIWICHA_SMALL static __attribute__((noinline)) int32_t float_blend(const int32_t *values,
                                                                   const struct place *row,
                                                                   const struct place *column)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < 4; k++) {
        const int32_t down = row->weights[k % 2];
        const int32_t across = column->weights[k / 2];
        const uint64_t product = rounded((uint64_t)((int64_t)values[k] * (down >> EXPONENT)));
        const uint64_t term = rounded(product * (uint64_t)(int64_t)(across >> EXPONENT));
        const int64_t shifted = (int64_t)(term << (PLACES - 2 * (PRECISION - 1)));
        const uint32_t exponent =
            (uint32_t)down % (1 << EXPONENT) + (uint32_t)across % (1 << EXPONENT);
        sum = rounded(sum + (uint64_t)(shifted >> exponent % 64));
    }
    return (int32_t)((int64_t)rounded(sum + (UINT64_C(1) << (PLACES - 1))) >> PLACES);
}

/** Returns the second of two float32 weights in Q0.31; where it is negative, its bits count. */
static uint32_t weight_bits(const struct place *place)
{
    const uint32_t exponent = (uint32_t)place->weights[1] % (1 << EXPONENT);
    const int32_t significand = place->weights[1] >> EXPONENT;
    return exponent > 31 ? 1 : (uint32_t)significand << (31 - PRECISION + 1) >> exponent;
}

/** Returns that weight, less than 1; of two equal pixels weights do not matter. */
static int32_t fixed_weight(const struct place *place)
{
    return place->pixels[0] == place->pixels[1] ? 0 : (int32_t)weight_bits(place);
}

/** Returns a + (b - a) * weight; the difference has 31 bits. */
INLINED int32_t towards(int32_t a, int32_t b, int32_t weight)
{
    return a + (int32_t)((int64_t)((b - a) * 2) * weight >> 32);
}

/** Blends one pixel of two rows, a word for each channel. */
static __attribute__((noinline)) void blend_wide_rows(const struct kiwicha_resize_bilinear *p,
                                                      const struct rows *rows, uint32_t first,
                                                      int32_t *to)
{
    const int8_t *upper = rows->upper + first, *lower = rows->lower + first;
    const uint32_t above = (uint32_t)rows->place->weights[0];
    const uint32_t below = (uint32_t)rows->place->weights[1];
    const int32_t offset = p->offset;
    const int8_t *end = upper + p->channels;
    if (p->blend == FIXED) {
        const uint32_t raised = (above + below) * (uint32_t)offset;
        while (upper < end) {
            *to++ = (int32_t)((uint32_t)*upper++ * above + (uint32_t)*lower++ * below + raised);
        }
        return;
    }
    const int32_t weight = fixed_weight(rows->place);
    while (upper < end) {
        const int32_t one = INT32_C(1) << NEAR_FRACTIONS;
        *to++ = towards((*upper++ + offset) * one, (*lower++ + offset) * one, weight);
    }
}

/** Takes one byte more: a whole word is written after every fourth. */
INLINED uint32_t with_byte(struct stream *stream, uint32_t word, uint32_t byte, uint32_t number)
{
    const uint32_t more = word >> 8 | byte << 24;
    if (number % 4 == 3) {
        put(stream, more);
    }
    return more;
}

INLINED void put_rest(struct stream *stream, uint32_t word, uint32_t channels)
{
    const uint32_t rest = channels % 4;
    if (rest > 0) {
        put_bytes(stream, word >> (32 - 8 * rest), rest);
    }
}

/** Writes one pixel with weights in 1/1024; half goes up above 0, down elsewhere. */
INLINED void write_fixed(struct stream *stream, const int32_t *left, const int32_t *right,
                         const int32_t *weights, const struct kiwicha_resize_bilinear *p)
{
    const uint32_t nearer = (uint32_t)weights[0], farther = (uint32_t)weights[1];
    const uint32_t half = UINT32_C(1) << (FRACTIONS - 1);
    const uint32_t channels = p->channels, offset = (uint32_t)p->offset;
    uint32_t word = 0;
    for (uint32_t c = 0; c < channels; c++) {
        const uint32_t sum = (uint32_t)left[c] * nearer + (uint32_t)right[c] * farther;
        const int32_t nearest = (int32_t)(sum + half - (sum >> 31)) >> FRACTIONS;
        word = with_byte(stream, word, (uint32_t)nearest - offset, c);
    }
    put_rest(stream, word, channels);
}

/** Writes one pixel of float32 numbers: of sums close to a border the exact ones decide. */
INLINED void write_float(struct stream *stream, const int32_t *left, const int32_t *right,
                         const struct rows *rows, const struct place *column,
                         const struct kiwicha_resize_bilinear *p)
{
    const int32_t weight = fixed_weight(column);
    const uint32_t both = weight_bits(rows->place) | weight_bits(column);
    const uint32_t doubt = (both & LONG_BITS) == 0 ? 0 : DOUBT;
    const uint32_t mask = (UINT32_C(1) << NEAR_FRACTIONS) - 1;
    const uint32_t channels = p->channels;
    const int32_t offset = p->offset;
    const uint32_t from[2] = {column->pixels[0] * channels, column->pixels[1] * channels};
    uint32_t word = 0;
    for (uint32_t c = 0; c < channels; c++) {
        const int32_t sum =
            towards(left[c], right[c], weight) + (INT32_C(1) << (NEAR_FRACTIONS - 1));
        int32_t nearest = sum >> NEAR_FRACTIONS;
        if (__builtin_expect((((uint32_t)sum + doubt) & mask) < 2 * doubt, 0)) {
            const int32_t values[4] = {
                rows->upper[from[0] + c] + offset, rows->lower[from[0] + c] + offset,
                rows->upper[from[1] + c] + offset, rows->lower[from[1] + c] + offset};
            nearest = float_blend(values, rows->place, column);
        }
        word = with_byte(stream, word, (uint32_t)(nearest - offset), c);
    }
    put_rest(stream, word, channels);
}

/* --------------------------------------------------------------------------------------- rows */

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
            write_fixed(&stream, sides[0], sides[1], column->weights, p);
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
