#include <stddef.h>

#include "check.h"
#include "exponentials.h"
#include "kernels.h"
#include "requantize.h"

#define POINTS 513u            /* of a table */
#define FRACTION_BITS 15       /* of exponentials and of their reciprocals */
#define ARGUMENT_ONE (3 << 15) /* what stands for the middle of a reciprocal's arguments */

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_softmax_of_shorts(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_softmax_of_shorts *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t elements = kiwicha_saturating_multiply(p->rows, p->depth);
    const uint32_t bytes = kiwicha_saturating_multiply(elements, sizeof(int16_t));
    kiwicha_require(&check, p->depth <= KIWICHA_MAX_DEPTH);
    kiwicha_require_source(&check, &p->input, bytes, sizeof(int16_t));
    kiwicha_require_target(&check, &p->output, bytes, sizeof(int16_t));
    kiwicha_require_source(&check, &p->exponentials, POINTS * sizeof(int16_t), sizeof(int16_t));
    kiwicha_require_source(&check, &p->reciprocals, POINTS * sizeof(int16_t), sizeof(int16_t));
    kiwicha_require_scale(&check, p->multiplier, p->shift);
    return check.status;
}

/** Returns a table's function of an int16. */
static inline int32_t interpolated(const int16_t *table, int32_t x)
{
    const int16_t *point = table + (POINTS / 2) + (x >> 7);
    return point[0] + (((point[1] - point[0]) * (x & 127) + 64) >> 7);
}

static void run_row(const struct kiwicha_softmax_of_shorts *p, const int16_t *exponentials,
                    const int16_t *reciprocals, const int16_t *input, int16_t *output)
{
    int32_t largest = INT16_MIN;
    for (uint32_t k = 0; k < p->depth; k++) {
        largest = input[k] > largest ? input[k] : largest;
    }
    uint32_t sum = 0;
    for (uint32_t k = 0; k < p->depth; k++) {
        const int32_t scaled = kiwicha_rescale(input[k] - largest, p->multiplier, p->shift);
        const int32_t argument = kiwicha_clamp(scaled + INT16_MAX, INT16_MIN, INT16_MAX);
        output[k] = (int16_t)interpolated(exponentials, argument);
        sum += (uint32_t)output[k];
    }
    uint32_t bits = FRACTION_BITS - 1; /* of the sum behind its first one */
    while (sum >> bits > 1) {
        bits++;
    }
    const int32_t argument = (int32_t)(((sum << (30 - bits)) + (1u << 13)) >> 14) - ARGUMENT_ONE;
    const int32_t reciprocal =
        interpolated(reciprocals, kiwicha_clamp(argument, INT16_MIN, INT16_MAX));
    const int32_t half = INT32_C(1) << (bits - 1);
    for (uint32_t k = 0; k < p->depth; k++) {
        const int32_t probability = (output[k] * reciprocal + half) >> bits;
        output[k] = (int16_t)kiwicha_clamp(probability, 0, INT16_MAX);
    }
}

enum kiwicha_status kiwicha_run_softmax_of_shorts(const struct kiwicha_memory *memory,
                                                  const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_softmax_of_shorts *p = params;
    const int16_t *exponentials = kiwicha_source(memory, &p->exponentials);
    const int16_t *reciprocals = kiwicha_source(memory, &p->reciprocals);
    const int16_t *input = kiwicha_source(memory, &p->input);
    int16_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t row = 0; row < p->rows; row++) {
        run_row(p, exponentials, reciprocals, input + row * p->depth, output + row * p->depth);
    }
    return KIWICHA_STATUS_OK;
}
