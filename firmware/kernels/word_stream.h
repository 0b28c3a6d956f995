/** Bytes that are written one after the other, in whole words wherever they begin. */
#ifndef KIWICHA_WORD_STREAM_H
#define KIWICHA_WORD_STREAM_H

#include "check.h"
#include "memory.h"

/* Registers hold a stream only where no call stands between. */
#define INLINED static inline __attribute__((always_inline))

/** Bytes that are written one after the other, in whole words. */
struct stream {
    kiwicha_word *to;
    uint32_t pending; /**< the first bits of the next word */
    uint32_t bits;    /**< their number, 0 to 24 */
};

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

#endif
