#include "check.h"
#include "kernels.h"
#include "lookup.h"
#include "requantize.h"

#define EXPONENTIALS 256
#define PAIR_OUTPUTS 511 /* differences of two bytes */
#define MAX_DEPTH 4095   /* each exponential adds at most 2**19 to the int32 sum */
#define SUM_FRACTION_BITS 19
#define SUM_SHIFT (31 - SUM_FRACTION_BITS)
#define SUM_HALF (1u << (SUM_SHIFT - 1))
#define PROBABILITY_BITS 8 /* the output's scale is 1 / 256 */

/** The depth is at most MAX_DEPTH, so that the sum of exponentials fits Q12.19. */
KIWICHA_SMALL enum kiwicha_status kiwicha_check_softmax(const struct kiwicha_memory *memory,
                                                        const void *params)
{
    const struct kiwicha_softmax *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    uint32_t bytes = kiwicha_saturating_multiply(p->rows, p->depth);
    kiwicha_require(&check, p->depth <= MAX_DEPTH);
    kiwicha_require_source(&check, &p->input, bytes, 1);
    kiwicha_require_target(&check, &p->output, bytes, 1);
    kiwicha_require_source(&check, &p->exponentials, EXPONENTIALS * sizeof(int32_t),
                           sizeof(int32_t));
    kiwicha_require(&check, (p->exponentials.offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    if (p->pairs.bytes != 0) {
        kiwicha_require(&check, p->depth == 2);
        kiwicha_require_source(&check, &p->pairs, PAIR_OUTPUTS, 1);
        kiwicha_require(&check, (p->pairs.offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    }
    kiwicha_require(&check, p->output_offset == 0 || p->output_offset == INT8_MIN);
    if (check.status == KIWICHA_STATUS_OK) {
        const int32_t *exponentials = kiwicha_source(memory, &p->exponentials);
        kiwicha_require(&check, exponentials[0] == INT32_MAX);
        for (uint32_t k = 1; k < EXPONENTIALS; k++) {
            kiwicha_require(&check, exponentials[k] >= 0 && exponentials[k] <= exponentials[k - 1]);
        }
    }
    return check.status;
}

/**
 * Returns round(a * b / 2**31), ties towards plus infinity.
 *
 * @param twice_a 2 a
 * @param twice_b 2 b
 */
static inline int32_t product_of(int32_t twice_a, uint32_t twice_b)
{
    int32_t high = (int32_t)(((int64_t)twice_a * twice_b) >> 32);
    /* It has the one bit that rounding needs. Left to itself, the compiler shifts 64 bits later. */
    __asm__("" : "+r"(high));
    return (high + 1) >> 1;
}

/**
 * Returns the reciprocal of a sum in Q12.19, 2**19 to 2**31 - 1, normalised to [1, 2) in Q0.31.
 *
 * @param normalized the sum shifted left until bit 31 is set
 */
static uint32_t reciprocal(uint32_t normalized)
{
    const uint32_t denominator = normalized & ~UINT32_C(1); /* Q0.32, a half to 1 */
    /* Q2.29: 48/17 - 32/17 d is the usual first guess of 1/d on [1/2, 1]. */
    int32_t x = 1515870810 + product_of(2 * -1010580540, denominator);
    for (uint32_t step = 0; step < 3; step++) {
        /* Before a step, x is below 1/d, and so below 2**30. */
        const int32_t error = (INT32_C(1) << 29) - product_of(2 * x, denominator);
        /* The first error is below 1/16: no correction leaves 32 bits. */
        x += product_of(2 * error, 2 * (uint32_t)x) * 4;
    }
    return x >= INT32_C(1) << 30 ? INT32_MAX : (uint32_t)x * 2;
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
    for (uint32_t bound = UINT32_C(2) << SUM_FRACTION_BITS; bound <= sum; bound *= 2) {
        exponent++;
    }
    const uint32_t normalized = sum << (SUM_SHIFT + 31 - PROBABILITY_BITS - exponent);
    /* From a sum of 512 on, every probability is below half a step of the output. */
    const bool is_zero = exponent > 31;
    exponent = is_zero ? 31 : exponent;
    return (struct normalizer){
        .scale = is_zero ? 0 : reciprocal(normalized),
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

/** Writes the outputs of a row that has more entries than there are differences. */
static void write_long_row(const int8_t *input, const int32_t *exponentials, uint8_t *output,
                           uint32_t depth, int32_t maximum, const struct normalizer *by)
{
    uint8_t table[EXPONENTIALS]; /* by the unsigned input byte */
    const uint8_t zero = (uint8_t)by->offset;
    uint8_t value = 0;
    bool is_zero = false; /* exponentials only fall: behind the first output of 0 are no others */
    for (uint32_t k = 0; k < EXPONENTIALS; k++) {
        value = is_zero ? zero : output_of(by, exponentials[k]);
        is_zero = value == zero;
        table[(uint8_t)((uint32_t)maximum - k)] = value;
    }
    kiwicha_look_up_bytes((const uint8_t *)input, table, output, depth);
}

/** Looks rows of two up: their outputs depend on the difference alone. */
static void run_pairs(const int8_t *input, const uint8_t *outputs, uint8_t *output, uint32_t rows)
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
    /* Four at a time, so that loads and branches are waited for less. */
    int32_t maximum = INT8_MIN;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < depth; k++) {
        maximum = input[k] > maximum ? input[k] : maximum;
    }
    uint32_t sum = 0;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < depth; k++) {
        /* Half up is half away from zero: nothing is negative. */
        sum += ((uint32_t)exponentials[maximum - input[k]] + SUM_HALF) >> SUM_SHIFT;
    }
    const struct normalizer by = normalizer_of(sum, offset);
    if (depth > EXPONENTIALS) {
        write_long_row(input, exponentials, output, depth, maximum, &by);
        return;
    }
#pragma GCC unroll 4
    for (uint32_t k = 0; k < depth; k++) {
        output[k] = output_of(&by, exponentials[maximum - input[k]]);
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
