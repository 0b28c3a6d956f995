#include "check.h"
#include "exponentials.h"
#include "kernels.h"
#include "lookup.h"

#define PAIR_OUTPUTS 511   /* differences of two bytes */
#define PROBABILITY_BITS 8 /* the output's scale is 1 / 256 */

KIWICHA_SMALL enum kiwicha_status kiwicha_check_softmax(const struct kiwicha_memory *memory,
                                                        const void *params)
{
    const struct kiwicha_softmax *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    uint32_t bytes = kiwicha_saturating_multiply(p->rows, p->depth);
    kiwicha_require(&check, p->depth <= KIWICHA_MAX_DEPTH);
    kiwicha_require_source(&check, &p->input, bytes, 1);
    kiwicha_require_target(&check, &p->output, bytes, 1);
    if (p->pairs.bytes != 0) {
        kiwicha_require(&check, p->depth == 2);
        kiwicha_require_source(&check, &p->pairs, PAIR_OUTPUTS, 1);
        kiwicha_require(&check, (p->pairs.offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    }
    kiwicha_require(&check, p->output_offset == 0 || p->output_offset == INT8_MIN);
    kiwicha_require_exponentials(&check, &p->exponentials);
    return check.status;
}

/** How the exponentials of one row become its outputs. */
struct normalizer {
    uint32_t scale;
    uint32_t exponent; /**< 23 to 31 */
    uint32_t half;     /**< 2**exponent / 2 */
    uint32_t offset;   /**< the output's zero point */
};

static struct normalizer normalizer_of(uint32_t sum, int32_t offset)
{
    /* A short row's sum is small: count its bits from there. */
    uint32_t exponent = 31 - PROBABILITY_BITS;
    for (uint32_t bound = UINT32_C(2) << KIWICHA_SUM_FRACTION_BITS; bound <= sum; bound *= 2) {
        exponent++;
    }
    const uint32_t normalized = sum << (KIWICHA_SUM_SHIFT + 31 - PROBABILITY_BITS - exponent);
    /* From a sum of 512 on, every probability is below half a step of the output. */
    const bool is_zero = exponent > 31;
    exponent = is_zero ? 31 : exponent;
    return (struct normalizer){
        .scale = is_zero ? 0 : kiwicha_reciprocal(normalized),
        .exponent = exponent,
        .half = UINT32_C(1) << (exponent - 1),
        .offset = (uint32_t)offset,
    };
}

static inline uint8_t output_of(const struct normalizer *by, int32_t exponential)
{
    /* Two roundings: of the product of two numbers in Q0.31, and of the shift. */
    const uint64_t twice_two = (uint64_t)(2 * by->scale) * (2 * (uint32_t)exponential);
    const uint32_t product = ((uint32_t)(twice_two >> 32) + 1) >> 1;
    const uint32_t probability = (product + by->half) >> by->exponent; /* 0 to 256 */
    return (uint8_t)(probability - (probability >> PROBABILITY_BITS) + by->offset);
}

/* Writes the outputs of a row that has more entries than there are differences. Beside what short
 * rows need: those fit the instruction cache with all else that an inference takes. */
static __attribute__((noinline)) void write_long_row(const int8_t *input,
                                                     const int32_t *exponentials, uint8_t *output,
                                                     uint32_t depth, int32_t maximum,
                                                     const struct normalizer *by)
{
    uint8_t table[KIWICHA_EXPONENTIALS]; /* by the unsigned input byte */
    const uint8_t zero = (uint8_t)by->offset;
    uint8_t value = 0;
    bool is_zero = false; /* exponentials only fall: behind the first output of 0 are no others */
    for (uint32_t k = 0; k < KIWICHA_EXPONENTIALS; k++) {
        value = is_zero ? zero : output_of(by, exponentials[k]);
        is_zero = value == zero;
        table[(uint8_t)((uint32_t)maximum - k)] = value;
    }
    kiwicha_look_up_bytes((const uint8_t *)input, table, output, depth);
}

/* Looks rows of two up: their outputs depend on the difference alone. */
static __attribute__((noinline)) void run_pairs(const int8_t *input, const uint8_t *outputs,
                                                uint8_t *output, uint32_t rows)
{
    const uint8_t *middle = outputs + PAIR_OUTPUTS / 2;
    for (uint32_t row = 0; row < rows; row++) {
        const int32_t difference = input[0] - input[1];
        output[0] = middle[difference];
        output[1] = middle[-difference];
        input += 2;
        output += 2;
    }
}

static void run_row(const int8_t *input, const int32_t *exponentials, uint8_t *restrict output,
                    uint32_t depth, int32_t offset)
{
    const int32_t maximum = kiwicha_largest(input, depth);
    const uint32_t sum = kiwicha_sum_of_exponentials(input, exponentials, depth, maximum);
    const struct normalizer by = normalizer_of(sum, offset);
    if (depth > KIWICHA_EXPONENTIALS) {
        write_long_row(input, exponentials, output, depth, maximum, &by);
        return;
    }
    const uintptr_t zero = kiwicha_entry_of_zero(exponentials, maximum);
#pragma GCC unroll 4
    for (uint32_t k = 0; k < depth; k++) {
        output[k] = output_of(&by, (int32_t)kiwicha_entry(zero, input[k]));
    }
}

enum kiwicha_status kiwicha_run_softmax(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_softmax *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    const int32_t *exponentials = kiwicha_source(memory, &p->exponentials);
    uint8_t *output = kiwicha_target(memory, &p->output);
    if (p->pairs.bytes != 0) {
        run_pairs(input, kiwicha_source(memory, &p->pairs), output, p->rows);
        return KIWICHA_STATUS_OK;
    }
    for (uint32_t row = 0; row < p->rows; row++) {
        run_row(input + row * p->depth, exponentials, output + row * p->depth, p->depth,
                p->output_offset);
    }
    return KIWICHA_STATUS_OK;
}
