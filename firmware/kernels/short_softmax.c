#include <stddef.h>

#include "check.h"
#include "exponentials.h"
#include "kernels.h"

#define PROBABILITY_BITS 16 /* the output's scale is 1 / 65536 */

KIWICHA_SMALL enum kiwicha_status kiwicha_check_short_softmax(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    const struct kiwicha_short_softmax *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t elements = kiwicha_saturating_multiply(p->rows, p->depth);
    kiwicha_require(&check, p->depth <= KIWICHA_MAX_DEPTH);
    kiwicha_require_source(&check, &p->input, elements, 1);
    kiwicha_require_target(&check, &p->output,
                           kiwicha_saturating_multiply(elements, sizeof(int16_t)), sizeof(int16_t));
    kiwicha_require_exponentials(&check, &p->exponentials);
    return check.status;
}

static void run_row(const int8_t *input, const int32_t *exponentials, int16_t *output,
                    uint32_t depth)
{
    const int32_t maximum = kiwicha_largest(input, depth);
    const uint32_t sum = kiwicha_sum_of_exponentials(input, exponentials, depth, maximum);
    uint32_t bits = 0; /* of the sum in front of the point, but for one */
    while (sum >> KIWICHA_SUM_FRACTION_BITS >> bits > 1) {
        bits++;
    }
    const uint32_t scale = kiwicha_reciprocal(sum << (KIWICHA_SUM_SHIFT - bits));
    const uint32_t exponent = 31 - PROBABILITY_BITS + bits;
    const uint32_t half = UINT32_C(1) << (exponent - 1);
    for (uint32_t k = 0; k < depth; k++) {
        const uint32_t exponential = (uint32_t)exponentials[maximum - input[k]];
        const uint64_t twice_two = (uint64_t)(2 * scale) * (2 * exponential);
        const uint32_t product = ((uint32_t)(twice_two >> 32) + 1) >> 1;
        const uint32_t probability = (product + half) >> exponent; /* 0 to 65536 */
        output[k] =
            (int16_t)((int32_t)(probability - (probability >> PROBABILITY_BITS)) + INT16_MIN);
    }
}

enum kiwicha_status kiwicha_run_short_softmax(const struct kiwicha_memory *memory,
                                              const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_short_softmax *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    int16_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t row = 0; row < p->rows; row++) {
        run_row(input + row * p->depth, kiwicha_source(memory, &p->exponentials),
                output + row * p->depth, p->depth);
    }
    return KIWICHA_STATUS_OK;
}
