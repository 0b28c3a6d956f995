/** Pixels between others, two channels in a word: weights whose products have 16 bits. */
#ifndef KIWICHA_BILINEAR_PACKED_H
#define KIWICHA_BILINEAR_PACKED_H

#include "bilinear.h"
#include "word_stream.h"

#define LANES UINT32_C(0x00ff00ff)
#define ONES UINT32_C(0x00010001)
#define SIGNS UINT32_C(0x80808080)

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

/** Writes one pixel; of each channel the sum of products is 256 times the output. Of the rarer
 * unsigned ones a word at a time: that is smaller. */
INLINED struct stream write_packed(struct stream stream, const uint32_t *left,
                                   const uint32_t *right, const int32_t *weights, uint32_t channels,
                                   bool is_signed)
{
    const uint32_t nearer = (uint32_t)weights[0], farther = (uint32_t)weights[1];
    const uint32_t *end = left + channels / 4 * 2;
    const uint32_t bits = stream.bits;
    kiwicha_word *to = stream.to;
    if (bits == 0) {
        for (; is_signed && left + 2 < end; left += 4, right += 4, to += 2) {
            to[0] = between(left, right, nearer, farther, is_signed);
            to[1] = between(left + 2, right + 2, nearer, farther, is_signed);
        }
        for (; left < end; left += 2, right += 2) {
            *to++ = between(left, right, nearer, farther, is_signed);
        }
    } else {
        uint32_t pending = stream.pending;
        for (; is_signed && left + 2 < end; left += 4, right += 4, to += 2) {
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

#endif
