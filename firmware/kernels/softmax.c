#include "check.h"
#include "kernels.h"
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
 * Returns the reciprocal of a sum in Q12.19, 2**19 to 2**31 - 1, normalised to [1, 2) in Q0.31.
 *
 * @param normalized the sum shifted left until bit 31 is set
 */
static int32_t reciprocal(uint32_t normalized)
{
    const int32_t half_denominator = (int32_t)(normalized >> 1);
    /* Q2.29: 48/17 - 32/17 d is the usual first guess of 1/d on [1/2, 1]. */
    int32_t x = 1515870810 + kiwicha_high_multiply(half_denominator, -1010580540);
    for (uint32_t step = 0; step < 3; step++) {
        int32_t error = (INT32_C(1) << 29) - kiwicha_high_multiply(half_denominator, x);
        /* The first error is below 1/16: no correction leaves 32 bits. */
        x += kiwicha_high_multiply(x, error) * 4;
    }
    return x >= INT32_C(1) << 30 ? INT32_MAX : x * 2;
}

/** How the exponentials of one row become its outputs. */
struct normalizer {
    int32_t scale;
    uint32_t exponent;
    int32_t offset; /**< the output's zero point */
};

static struct normalizer normalizer_of(uint32_t sum, int32_t offset)
{
    const uint32_t headroom = (uint32_t)__builtin_clz(sum);
    const uint32_t bits_over_unit = 31 - SUM_FRACTION_BITS - headroom; /* modulo 2**32 */
    return (struct normalizer){
        .scale = reciprocal(sum << headroom),
        .exponent = bits_over_unit + 31 - PROBABILITY_BITS,
        .offset = offset,
    };
}

static uint8_t output_of(const struct normalizer *by, int32_t exponential)
{
    int32_t probability = 0;
    /* From a sum of 512 on, every probability is below half a step of the output. */
    if (by->exponent <= 31) {
        const int32_t product = kiwicha_high_multiply(by->scale, exponential);
        probability = kiwicha_rounding_divide_by_pot(product, by->exponent);
    }
    return (uint8_t)(kiwicha_clamp(probability, 0, UINT8_MAX) + by->offset);
}

/** Writes the outputs of a row that has more entries than there are differences. */
static void write_long_row(const int8_t *input, const int32_t *exponentials, uint8_t *output,
                           uint32_t depth, int32_t maximum, const struct normalizer *by)
{
    uint8_t outputs[EXPONENTIALS];
    const uint8_t zero = (uint8_t)by->offset;
    uint32_t count = 0; /* exponentials only fall: behind the first output of 0 are no others */
    while (count < EXPONENTIALS && (outputs[count] = output_of(by, exponentials[count])) != zero) {
        count++;
    }
    for (uint32_t k = 0; k < depth; k++) {
        const uint32_t difference = (uint32_t)(maximum - input[k]);
        output[k] = difference < count ? outputs[difference] : zero;
    }
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

static void run_row(const int8_t *input, const int32_t *exponentials, uint8_t *output,
                    uint32_t depth, int32_t offset)
{
    int32_t maximum = INT8_MIN;
    for (uint32_t k = 0; k < depth; k++) {
        maximum = input[k] > maximum ? input[k] : maximum;
    }
    uint32_t sum = 0;
    for (uint32_t k = 0; k < depth; k++) {
        /* Half up is half away from zero: nothing is negative. */
        sum += ((uint32_t)exponentials[maximum - input[k]] + SUM_HALF) >> SUM_SHIFT;
    }
    const struct normalizer by = normalizer_of(sum, offset);
    if (depth > EXPONENTIALS) {
        write_long_row(input, exponentials, output, depth, maximum, &by);
        return;
    }
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
