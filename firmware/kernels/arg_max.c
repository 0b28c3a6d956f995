#include "check.h"
#include "kernels.h"

#define COLUMNS 32 /* as many bytes as a line of the data cache has */

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

/** Returns the first position of the largest byte of a row, or of the smallest with a flip of -1.
 */
static inline uint32_t position_in_row(const int8_t *row, uint32_t depth, int32_t flip)
{
    const int8_t *end = row + depth;
    const int8_t *best_place = row;
    int32_t best = *row ^ flip;
    const int8_t *place = row + 1;
    /* A better byte is rare: code for it lies aside, and four loads do not wait for each other. */
    for (; end - place >= 4; place += 4) {
        const int32_t a = place[0] ^ flip, b = place[1] ^ flip;
        const int32_t c = place[2] ^ flip, d = place[3] ^ flip;
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
        const int32_t value = *place ^ flip;
        if (value > best) {
            best = value;
            best_place = place;
        }
    }
    return (uint32_t)(best_place - row);
}

/** Finds positions along rows that lie `inner` bytes apart, for a few columns at a time. */
static void run_columns(const struct kiwicha_arg_max *p, const int8_t *input, kiwicha_word *output)
{
    const uint32_t inner = p->inner, depth = p->depth, words = p->words;
    const int32_t flip = p->flip;
    int32_t best[COLUMNS];
    for (uint32_t first = 0; first < inner; first += COLUMNS) {
        const uint32_t rest = inner - first;
        const uint32_t count = rest < COLUMNS ? rest : COLUMNS;
        const int8_t *row = input + first;
        for (uint32_t column = 0; column < count; column++) {
            best[column] = row[column] ^ flip;
            output[column * words] = 0;
        }
        for (uint32_t k = 1; k < depth; k++) {
            row += inner;
            for (uint32_t column = 0; column < count; column++) {
                const int32_t value = row[column] ^ flip;
                if (__builtin_expect(value > best[column], 0)) {
                    best[column] = value;
                    output[column * words] = k;
                }
            }
        }
        output += count * words;
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
        } else if (p->flip == 0) {
            *output = position_in_row(input, p->depth, 0);
        } else {
            *output = position_in_row(input, p->depth, -1);
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
