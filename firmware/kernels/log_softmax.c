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
#define LONG_ROW 704 /* from so many entries on, a table of outputs pays */

#define LOG_2 1488522236u        /* logarithm of 2, Q0.31, as the numbers below */
#define ROOT_HALF 1518500250u    /* 2**(-1/2) */
#define QUARTER_ROOT 1805811301u /* 2**(-1/4), the middle of the interval of the fraction */
#define CUBE 117049297u          /* 11/240 2**(1/4) */
#define SQUARE 127690142u        /* 1/20 2**(1/4) */
#define CONSTANT 1057819769u     /* 2 / 2**(1/4) - 2**(1/4) */
#define LINEAR 638450708u        /* 1/4 2**(1/4) */

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

/** Returns round(a * b / 2**31) of twice two numbers that are 0 or more. */
static inline uint32_t product_of_positive(uint32_t twice_a, uint32_t twice_b)
{
    uint32_t high = (uint32_t)(((uint64_t)twice_a * twice_b) >> 32);
    /* As in `kiwicha_product`. */
    __asm__("" : "+r"(high));
    return (high + 1) >> 1;
}

/**
 * Returns the natural logarithm of a sum in Q5.26.
 *
 * @param sum in Q12.19, 1 or more
 */
KIWICHA_SMALL static uint32_t logarithm(uint32_t sum)
{
    uint32_t exponent = 0, bound = UINT32_C(2) << KIWICHA_SUM_FRACTION_BITS;
    for (; bound <= sum; bound *= 2) {
        exponent++;
    }
    /* The sum is r * 2**power with r of 2**(-1/2) to 1: power in quarters, odd ones. */
    uint32_t power = 4 * exponent + 3;
    uint32_t twice_r = sum << (SUM_INTEGER_BITS - exponent);
    if (product_of_positive(2 * sum, 2 * ROOT_HALF) < bound / 2) {
        twice_r = 4 * product_of_positive(twice_r, 2 * ROOT_HALF);
        power -= 2;
    }
    /* A quotient of polynomials of the distance q from the middle. */
    const int32_t twice_q = 2 * (int32_t)(twice_r - 2 * QUARTER_ROOT);
    const uint32_t distance = (uint32_t)(twice_q < 0 ? -twice_q : twice_q);
    const uint32_t twice_square = 2 * product_of_positive(distance, distance);
    const int32_t numerator = kiwicha_product(twice_q, twice_r) +
                              kiwicha_product(2 * kiwicha_product(twice_q, twice_square), 2 * CUBE);
    const uint32_t mean = (uint32_t)(((uint64_t)twice_r + 2 * QUARTER_ROOT + 2) >> 2);
    const uint32_t polynomial =
        CONSTANT + (uint32_t)(twice_q >> 1) + product_of_positive(twice_square, 2 * SQUARE);
    const uint32_t denominator = product_of_positive(2 * mean, 2 * polynomial) +
                                 (uint32_t)kiwicha_product(twice_q, 2 * LINEAR);
    const uint32_t reciprocal = kiwicha_reciprocal(denominator + (UINT32_C(1) << 31));
    const int32_t fraction = kiwicha_product(
        2 * kiwicha_rounding_divide_by_pot(numerator, 32 - FRACTION_BITS), 2 * reciprocal);
    const uint32_t whole = product_of_positive(power << (FRACTION_BITS - 2), 2 * LOG_2);
    return 2 * (whole + (uint32_t)fraction);
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
    /* Down to the least input; what is further is that of inputs above the maximum. */
    for (int32_t k = maximum; k >= INT8_MIN; k -= 4, distances += 4) {
        const uint32_t a = distances[0], b = distances[1], c = distances[2], d = distances[3];
        table[(uint8_t)k] = output_of(a, rounded, top);
        table[(uint8_t)(k - 1)] = output_of(b, rounded, top);
        table[(uint8_t)(k - 2)] = output_of(c, rounded, top);
        table[(uint8_t)(k - 3)] = output_of(d, rounded, top);
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
