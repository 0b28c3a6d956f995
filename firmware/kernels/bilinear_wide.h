/** Pixels between others, a channel in a word: weights in 1/1024, and those of float32. */
#ifndef KIWICHA_BILINEAR_WIDE_H
#define KIWICHA_BILINEAR_WIDE_H

#include "bilinear.h"
#include "check.h"
#include "kernels.h"
#include "word_stream.h"

#define FRACTIONS 20      /* bits of a product of two distances */
#define PLACES 52         /* bits behind the point of a sum of float32 numbers */
#define PRECISION 24      /* bits of a float32's significand */
#define EXPONENT 6        /* low bits of a weight that say how far its significand goes down */
#define NEAR_FRACTIONS 22 /* bits behind the point of a sum that is nearly that of float32 */
/* More than such a sum can be beside that of float32: 2**-12. */
#define DOUBT (INT32_C(1) << (NEAR_FRACTIONS - 12))
/* Bits that a weight in Q0.31 has not, if it is in 1/128: nothing is rounded between such. */
#define LONG_BITS ((UINT32_C(1) << (31 - 7)) - 1)

/** Returns x, a signed number, rounded to the significant bits of a float32, half to even. */
static __attribute__((noinline)) uint64_t rounded(uint64_t x)
{
    const uint64_t magnitude = (int64_t)x < 0 ? -x : x;
    const uint32_t upper = (uint32_t)(magnitude >> 32);
    const uint32_t word = upper != 0 ? upper : (uint32_t)magnitude | 1;
    const uint32_t bits = (upper != 0 ? 64u : 32u) - (uint32_t)__builtin_clz(word);
    if (bits <= PRECISION) {
        return x;
    }
    const uint64_t half = UINT64_C(1) << (bits - PRECISION - 1);
    const uint64_t unit = half + half;
    return (x + half - ((x & unit) == 0)) & -unit;
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
        /* Two at a time: neither waits for its own products. */
        for (; upper + 1 < end; upper += 2, lower += 2, to += 2) {
            const uint32_t values[4] = {(uint32_t)upper[0], (uint32_t)upper[1], (uint32_t)lower[0],
                                        (uint32_t)lower[1]};
            const uint32_t products[4] = {values[0] * above, values[1] * above, values[2] * below,
                                          values[3] * below};
            to[0] = (int32_t)(products[0] + products[2] + raised);
            to[1] = (int32_t)(products[1] + products[3] + raised);
        }
        if (upper < end) {
            *to = (int32_t)((uint32_t)*upper * above + (uint32_t)*lower * below + raised);
        }
        return;
    }
    const int32_t weight = fixed_weight(rows->place);
    while (upper < end) {
        const int32_t one = INT32_C(1) << NEAR_FRACTIONS;
        *to++ = towards((*upper++ + offset) * one, (*lower++ + offset) * one, weight);
    }
}

/** Returns four outputs, with weights in 1/1024; half goes up above 0, down elsewhere. */
INLINED uint32_t fixed_between(const int32_t *left, const int32_t *right, uint32_t nearer,
                               uint32_t farther, uint32_t raised)
{
    uint32_t sums[4];
    for (uint32_t k = 0; k < 4; k++) {
        sums[k] = (uint32_t)left[k] * nearer + (uint32_t)right[k] * farther;
    }
    for (uint32_t k = 0; k < 4; k++) {
        sums[k] += (uint32_t)((int32_t)sums[k] >> 31) + raised;
    }
    /* Bits 20 to 27 of each. */
    return (sums[0] >> 20 & UINT32_C(0xff)) | (sums[1] >> 12 & UINT32_C(0xff00)) |
           (sums[2] >> 4 & UINT32_C(0xff0000)) | (sums[3] << 4 & UINT32_C(0xff000000));
}

/** Writes one pixel with weights in 1/1024. */
INLINED struct stream write_fixed(struct stream stream, const int32_t *left, const int32_t *right,
                                  const int32_t *weights, const struct kiwicha_resize_bilinear *p)
{
    const uint32_t nearer = (uint32_t)weights[0], farther = (uint32_t)weights[1];
    const uint32_t raised = (UINT32_C(1) << (FRACTIONS - 1)) - ((uint32_t)p->offset << FRACTIONS);
    const uint32_t rest = p->channels % 4;
    const int32_t *end = left + (p->channels - rest);
    const uint32_t bits = stream.bits;
    kiwicha_word *to = stream.to;
    if (bits == 0) {
        for (; left < end; left += 4, right += 4) {
            *to++ = fixed_between(left, right, nearer, farther, raised);
        }
    } else {
        uint32_t pending = stream.pending;
        for (; left < end; left += 4, right += 4) {
            const uint32_t word = fixed_between(left, right, nearer, farther, raised);
            *to++ = pending | word << bits;
            pending = word >> (32 - bits);
        }
        stream.pending = pending;
    }
    stream.to = to;
    if (rest != 0) {
        const uint32_t word = fixed_between(left, right, nearer, farther, raised);
        put_bytes(&stream, word & ((UINT32_C(1) << (8 * rest)) - 1), rest);
    }
    return stream;
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

#endif
