#include "check.h"
#include "kernels.h"
#include "maximum.h"
#if KIWICHA_CONFIG_ENGINE_MACS
#include "cfu.h"
#endif

#define COLUMNS KIWICHA_CACHE_LINE_BYTES
#define WORDS 4 /* of columns that registers hold */
#define LONG_ROW                                                                                   \
    32 /* from so many bytes on, the largest one is found first, and then its place                \
        */
#define ONES UINT32_C(0x01010101)
#define SIGNS UINT32_C(0x80808080)

KIWICHA_SMALL enum kiwicha_status kiwicha_check_arg_max(const struct kiwicha_memory *memory,
                                                        const void *params)
{
    const struct kiwicha_arg_max *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t outputs = kiwicha_saturating_multiply(p->outer, p->inner);
    kiwicha_require(&check, p->depth >= 1 && (p->flip == 0 || p->flip == -1) &&
                                (p->words == 1 || p->words == 2));
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(outputs, p->depth), 1);
    kiwicha_require_target(
        &check, &p->output,
        kiwicha_saturating_multiply(outputs, p->words * (uint32_t)sizeof(int32_t)),
        sizeof(int32_t));
    return check.status;
}

/** Returns the first position of a byte in a row that has it. */
static uint32_t position_of(const int8_t *row, uint32_t depth, int32_t byte)
{
    const int8_t *place = row, *end = row + depth;
    for (; ((uintptr_t)place & 3) != 0; place++) {
        if (*place == byte) {
            return (uint32_t)(place - row);
        }
    }
    const uint32_t four = (uint8_t)byte * ONES;
    for (; end - place >= 4; place += 4) {
        const uint32_t difference = *(const kiwicha_word *)(const void *)place ^ four;
        if (((difference - ONES) & ~difference & SIGNS) != 0) {
            break; /* a byte of it is 0 */
        }
    }
#pragma GCC unroll 1
    while (*place != byte) {
        place++;
    }
    return (uint32_t)(place - row);
}

/** Returns the first position of the largest byte of a short row. */
static inline uint32_t position_in_row(const int8_t *row, uint32_t depth)
{
    const int8_t *end = row + depth;
    const int8_t *best_place = row;
    int32_t best = *row;
    const int8_t *place = row + 1;
    /* A better byte is rare: code for it lies aside, and four loads do not wait for each other. */
    for (; end - place >= 4; place += 4) {
        const int32_t a = place[0], b = place[1];
        const int32_t c = place[2], d = place[3];
        if (__builtin_expect(a > best, 0)) {
            best = a;
            best_place = place;
        }
        if (__builtin_expect(b > best, 0)) {
            best = b;
            best_place = place + 1;
        }
        if (__builtin_expect(c > best, 0)) {
            best = c;
            best_place = place + 2;
        }
        if (__builtin_expect(d > best, 0)) {
            best = d;
            best_place = place + 3;
        }
    }
    for (; place < end; place++) {
        const int32_t value = *place;
        if (value > best) {
            best = value;
            best_place = place;
        }
    }
    return (uint32_t)(best_place - row);
}

/** Finds positions in `count` columns of rows that lie `inner` bytes apart. */
static void find_columns(const struct kiwicha_arg_max *p, const int8_t *row, kiwicha_word *output,
                         uint32_t count)
{
    const uint32_t inner = p->inner, depth = p->depth, words = p->words;
    const int32_t flip = p->flip;
    int32_t best[COLUMNS];
#pragma GCC unroll 1
    for (uint32_t column = 0; column < count; column++) {
        best[column] = row[column] ^ flip;
        output[column * words] = 0;
    }
#pragma GCC unroll 1
    for (uint32_t k = 1; k < depth; k++) {
        row += inner;
#pragma GCC unroll 1
        for (uint32_t column = 0; column < count; column++) {
            const int32_t value = row[column] ^ flip;
            if (__builtin_expect(value > best[column], 0)) {
                best[column] = value;
                output[column * words] = k;
            }
        }
    }
}

#if KIWICHA_CONFIG_ENGINE_MACS
/** Writes a position for each byte that is not 0. */
static __attribute__((noinline)) void write_positions(uint32_t bytes, kiwicha_word *output,
                                                      uint32_t words, uint32_t position)
{
    for (; bytes != 0; bytes >>= 8, output += words) {
        if ((bytes & UINT8_MAX) != 0) {
            *output = position;
        }
    }
}

/** Finds positions in four columns for each of `count` words, which registers hold. */
KIWICHA_INLINE void find_words(const struct kiwicha_arg_max *p, const kiwicha_word *row,
                               kiwicha_word *output, uint32_t count)
{
    const uint32_t step = p->inner / 4, depth = p->depth, words = p->words;
    const uint32_t flip = (uint32_t)p->flip;
    uint32_t best[WORDS];
#pragma GCC unroll 4
    for (uint32_t word = 0; word < count; word++) {
        best[word] = row[word] ^ flip;
    }
#pragma GCC unroll 1
    for (uint32_t column = 0; column < 4 * count; column++) {
        output[column * words] = 0;
    }
#pragma GCC unroll 1
    for (uint32_t k = 1; k < depth; k++) {
        row += step;
#pragma GCC unroll 4
        for (uint32_t word = 0; word < count; word++) {
            const uint32_t largest = kiwicha_cfu_max(best[word], row[word] ^ flip);
            if (__builtin_expect(largest != best[word], 0)) {
                write_positions(largest ^ best[word], output + 4 * word * words, words, k);
                best[word] = largest;
            }
        }
    }
}
#endif

/** Finds positions along rows that lie `inner` bytes apart, for a few columns at a time. */
static void run_columns(const struct kiwicha_arg_max *p, const int8_t *input, kiwicha_word *output)
{
    uint32_t done = 0;
#if KIWICHA_CONFIG_ENGINE_MACS
    if ((((uintptr_t)input | p->inner) & 3) == 0) {
        const kiwicha_word *row = (const kiwicha_word *)(const void *)input;
        for (; p->inner - done >= 4 * WORDS; done += 4 * WORDS) {
            find_words(p, row + done / 4, output + done * p->words, WORDS);
        }
        for (; done < p->inner; done += 4) {
            find_words(p, row + done / 4, output + done * p->words, 1);
        }
    }
#endif
    while (done < p->inner) {
        const uint32_t rest = p->inner - done;
        const uint32_t count = rest < COLUMNS ? rest : COLUMNS;
        find_columns(p, input + done, output + done * p->words, count);
        done += count;
    }
}

/** ARG_MAX and ARG_MIN: of equal values the first. */
enum kiwicha_status kiwicha_run_arg_max(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_arg_max *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    kiwicha_word *output = kiwicha_target(memory, &p->output);
    for (uint32_t outer = 0; outer < p->outer; outer++) {
        if (p->inner > 1) {
            run_columns(p, input, output);
        } else if (p->depth >= LONG_ROW || p->flip != 0) {
            const int32_t best = kiwicha_maximum(input, p->depth, p->flip) ^ p->flip;
            *output = position_of(input, p->depth, best);
        } else {
            *output = position_in_row(input, p->depth);
        }
        if (p->words == 2) {
            for (uint32_t k = 0; k < p->inner; k++) {
                output[2 * k + 1] = 0;
            }
        }
        input += p->depth * p->inner;
        output += p->inner * p->words;
    }
    return KIWICHA_STATUS_OK;
}
