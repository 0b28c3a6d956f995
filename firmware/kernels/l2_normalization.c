#include "check.h"
#include "kernels.h"
#include "requantize.h"

#define MAX_DEPTH 32767        /* squares of bytes add up to less than 2**31 */
#define SCALE_BITS 7           /* the output's scale is 1/128 */
#define STEPS 5                /* of Newton and Raphson */
#define HALF_ROOT_2 1518500250 /* sqrt(2) / 2 in Q0.31 */

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_l2_normalization(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_l2_normalization *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = kiwicha_saturating_multiply(p->rows, p->depth);
    kiwicha_require(&check, p->depth <= MAX_DEPTH);
    kiwicha_require(&check, p->early_bits == 0 || p->early_bits == SCALE_BITS);
    kiwicha_require_range(&check, p->input_offset, -127, 128);
    kiwicha_require_source(&check, &p->input, bytes, 1);
    kiwicha_require_target(&check, &p->output, bytes, 1);
    return check.status;
}

/** Returns x * 2**bits, limited to 32 bits. */
KIWICHA_SMALL static int32_t raised(int32_t x, uint32_t bits)
{
    const int32_t limit = INT32_MAX >> bits;
    return x > limit ? INT32_MAX : x < -limit - 1 ? INT32_MIN : x * (INT32_C(1) << bits);
}

/** A number as multiplier * 2**(shift - 31). */
struct scale {
    int32_t multiplier;
    int32_t shift;
};

/** Returns 1 / sqrt(x); 0 counts as 1. */
KIWICHA_SMALL static struct scale inverse_square_root(int32_t x)
{
    if (x <= 1) {
        return (struct scale){INT32_MAX, 0};
    }
    int32_t right = 11;
    while (x >= INT32_C(1) << 29) {
        x /= 4;
        right++;
    }
    const int32_t pairs = (__builtin_clz((uint32_t)x) - 1) / 2 - 1;
    right -= pairs;
    x *= INT32_C(1) << (2 * pairs);
    /* From 1, in Q3.28. */
    const int32_t half = kiwicha_rounding_divide_by_pot(x >> 1, 1);
    int32_t root = INT32_C(1) << 28;
    for (uint32_t step = 0; step < STEPS; step++) {
        const int32_t square = kiwicha_high_multiply(root, root);
        const int32_t cube = raised(kiwicha_high_multiply(square, root), 6);
        root = raised(kiwicha_high_multiply((INT32_C(1) << 28) + (INT32_C(1) << 27), root) -
                          kiwicha_high_multiply(half, cube),
                      3);
    }
    const int32_t multiplier = kiwicha_high_multiply(root, HALF_ROOT_2);
    return right < 0 ? (struct scale){multiplier * (INT32_C(1) << -right), 0}
                     : (struct scale){multiplier, -right};
}

/** L2_NORMALIZATION over the last dimension. */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_l2_normalization(const struct kiwicha_memory *memory,
                                                               const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_l2_normalization *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    int8_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t row = 0; row < p->rows; row++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < p->depth; k++) {
            const int32_t number = input[k] + p->input_offset;
            sum += number * number;
        }
        const struct scale scale = inverse_square_root(sum);
        const int32_t shift = scale.shift + SCALE_BITS - (int32_t)p->early_bits;
        for (uint32_t k = 0; k < p->depth; k++) {
            const int32_t number = (*input++ + p->input_offset) * (INT32_C(1) << p->early_bits);
            *output++ = (int8_t)kiwicha_clamp(kiwicha_rescale(number, scale.multiplier, shift),
                                              INT8_MIN, INT8_MAX);
        }
    }
    return KIWICHA_STATUS_OK;
}
