#include "check.h"
#include "exponentials.h"
#include "kernels.h"
#include "lookup.h"
#include "requantize.h"

#define FRACTION_BITS 26 /* of logarithms and distances, Q5.26 */
#define OUTPUT_BITS 4    /* the output's scale is 1 / 2**4 */
#define SUM_INTEGER_BITS (31 - KIWICHA_SUM_FRACTION_BITS)
#define STEP_SHIFT (FRACTION_BITS - OUTPUT_BITS)
#define STEP_HALF (UINT32_C(1) << (STEP_SHIFT - 1))
#define MAX_DISTANCE (UINT32_C(1) << 30) /* from 16 on, the output is the least */
#define MAX_STEPS 255
#define LONG_ROW 768 /* from so many entries on, a table of outputs pays */

#define LOG_2 1488522236        /* logarithm of 2, Q0.31, as the numbers below */
#define ROOT_HALF 1518500250    /* 2**(-1/2) */
#define QUARTER_ROOT 1805811301 /* 2**(-1/4), the middle of the interval of the fraction */
#define CUBE 117049297          /* 11/240 2**(1/4) */
#define SQUARE 127690142        /* 1/20 2**(1/4) */
#define CONSTANT 1057819769     /* 2 / 2**(1/4) - 2**(1/4) */
#define LINEAR 638450708        /* 1/4 2**(1/4) */

KIWICHA_SMALL enum kiwicha_status kiwicha_check_log_softmax(const struct kiwicha_memory *memory,
                                                            const void *params)
{
    const struct kiwicha_log_softmax *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = kiwicha_saturating_multiply(p->rows, p->depth);
    kiwicha_require(&check, p->depth <= KIWICHA_MAX_DEPTH);
    kiwicha_require_source(&check, &p->input, bytes, 1);
    kiwicha_require_target(&check, &p->output, bytes, 1);
    kiwicha_require_source(&check, &p->distances, KIWICHA_EXPONENTIALS * sizeof(int32_t),
                           sizeof(int32_t));
    kiwicha_require(&check, (p->distances.offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    kiwicha_require(&check, p->output_offset == INT8_MAX || p->output_offset == UINT8_MAX);
    kiwicha_require_exponentials(&check, &p->exponentials);
    return check.status;
}

/**
 * Returns the natural logarithm of a sum in Q5.26.
 *
 * @param sum in Q12.19, 1 or more
 */
KIWICHA_SMALL static uint32_t logarithm(uint32_t sum)
{
    const uint32_t zeros = (uint32_t)__builtin_clz(sum);
    /* The sum is r * 2**power with r of 2**(-1/2) to 1: power in quarters, odd ones. */
    int32_t power = 4 * (SUM_INTEGER_BITS - (int32_t)zeros) + 3;
    int32_t r = (int32_t)(sum << (zeros - 1));
    const int32_t reduced = kiwicha_high_multiply((int32_t)sum, ROOT_HALF);
    if ((uint32_t)__builtin_clz((uint32_t)reduced) != zeros) {
        const int32_t half = kiwicha_high_multiply(r, ROOT_HALF);
        r = half >= INT32_C(1) << 30 ? INT32_MAX : 2 * half;
        power -= 2;
    }
    /* A quotient of polynomials of the distance q from the middle. */
    const int32_t mean = (int32_t)(((uint32_t)r + QUARTER_ROOT + 1) >> 1);
    const int32_t q = 2 * (r - QUARTER_ROOT);
    const int32_t square = kiwicha_high_multiply(q, q);
    const int32_t numerator =
        kiwicha_high_multiply(q, r) + kiwicha_high_multiply(kiwicha_high_multiply(q, square), CUBE);
    const int32_t denominator =
        kiwicha_high_multiply(mean, CONSTANT + q + kiwicha_high_multiply(SQUARE, square)) +
        kiwicha_high_multiply(LINEAR, q);
    const int32_t reciprocal =
        (int32_t)kiwicha_reciprocal((uint32_t)denominator + (UINT32_C(1) << 31));
    const int32_t fraction = kiwicha_high_multiply(
        kiwicha_rounding_divide_by_pot(numerator, 32 - FRACTION_BITS), reciprocal);
    const int32_t whole = kiwicha_high_multiply(power * (INT32_C(1) << (FRACTION_BITS - 3)), LOG_2);
    return (uint32_t)(2 * (whole + fraction));
}

/** Returns an output: a distance from the maximum and a logarithm below the greatest one. */
static inline uint8_t output_of(uint32_t distance, uint32_t rounded, uint32_t top)
{
    const uint32_t steps = (distance + rounded) >> STEP_SHIFT;
    return (uint8_t)(top - (steps > MAX_STEPS ? MAX_STEPS : steps));
}

/** Writes the outputs of a row of many entries: by a table of all of them. */
static void write_long_row(const int8_t *input, const uint32_t *distances, uint8_t *output,
                           uint32_t depth, int32_t maximum, uint32_t rounded, uint32_t top)
{
    uint8_t table[KIWICHA_EXPONENTIALS]; /* by the unsigned input byte */
#pragma GCC unroll 1
    for (uint32_t k = 0; k < KIWICHA_EXPONENTIALS; k++) {
        table[(uint8_t)((uint32_t)maximum - k)] = output_of(distances[k], rounded, top);
    }
    kiwicha_look_up_bytes((const uint8_t *)input, table, output, depth);
}

static void run_row(const int8_t *input, const int32_t *exponentials, const uint32_t *distances,
                    uint8_t *restrict output, uint32_t depth, uint32_t top)
{
    const int32_t maximum = kiwicha_largest(input, depth);
    const uint32_t sum = kiwicha_sum_of_exponentials(input, exponentials, depth, maximum);
    const uint32_t rounded = logarithm(sum) + STEP_HALF;
    if (depth >= LONG_ROW) {
        write_long_row(input, distances, output, depth, maximum, rounded, top);
        return;
    }
    const uintptr_t zero = kiwicha_entry_of_zero(distances, maximum);
    uint32_t k = 0;
    for (; k + 4 <= depth; k += 4) {
        uint32_t four[4];
        kiwicha_four_entries(zero, input + k, four);
        for (uint32_t n = 0; n < 4; n++) {
            output[k + n] = output_of(four[n], rounded, top);
        }
    }
#pragma GCC unroll 1
    for (; k < depth; k++) {
        output[k] = output_of(kiwicha_entry(zero, input[k]), rounded, top);
    }
}

/** LOG_SOFTMAX over the last dimension. */
enum kiwicha_status kiwicha_run_log_softmax(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_log_softmax *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    uint8_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t row = 0; row < p->rows; row++) {
        run_row(input + row * p->depth, kiwicha_source(memory, &p->exponentials),
                kiwicha_source(memory, &p->distances), output + row * p->depth, p->depth,
                (uint32_t)p->output_offset);
    }
    return KIWICHA_STATUS_OK;
}
