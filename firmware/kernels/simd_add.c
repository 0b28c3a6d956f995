#include "check.h"
#include "kernels.h"
#include "requantize.h"

#include "cfu.h"

/* Lanes of the requantizer whose scales are those of the two inputs and of the output. */
enum { LANE_1, LANE_2, LANE_OUTPUT };

KIWICHA_SMALL static void require_row_major(struct kiwicha_check *check, const uint32_t *shape,
                                            const uint32_t *strides)
{
    uint32_t stride = 1;
    for (uint32_t k = KIWICHA_MAX_RANK; k > 0; k--) {
        kiwicha_require(check, shape[k - 1] == 1 || strides[k - 1] == stride);
        stride = kiwicha_saturating_multiply(stride, shape[k - 1]);
    }
}

/** ADD without broadcast: both inputs are row-major of the output's shape. Any element count. */
KIWICHA_SMALL enum kiwicha_status kiwicha_check_simd_add(const struct kiwicha_memory *memory,
                                                         const void *params)
{
    const struct kiwicha_elementwise *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_elementwise(&check, p, sizeof(kiwicha_word));
    require_row_major(&check, p->shape, p->strides_1);
    require_row_major(&check, p->shape, p->strides_2);
    return check.status;
}

/** Everything of the parameters that the sum of two elements needs. */
struct sum {
    uint32_t left_shift;
    int32_t bias_1;
    int32_t bias_2;
};

/** Returns the sum of two elements, as int8. */
KIWICHA_INLINE uint32_t sum_of(const struct sum *sum, int32_t a, int32_t b)
{
    const int32_t factor = INT32_C(1) << sum->left_shift;
    const int32_t scaled_a = kiwicha_cfu_rescale(LANE_1, a * factor + sum->bias_1);
    const int32_t scaled_b = kiwicha_cfu_rescale(LANE_2, b * factor + sum->bias_2);
    return kiwicha_cfu_value(LANE_OUTPUT, kiwicha_wrapping_add(scaled_a, scaled_b));
}

/** Returns the sums of four elements; not inlined, to save on-chip memory. */
static __attribute__((noinline)) uint32_t sum_word(const struct sum *sum, uint32_t a, uint32_t b)
{
    uint32_t word = 0;
    for (uint32_t k = 0; k < 4; k++) {
        word = kiwicha_cfu_pack(word, sum_of(sum, (int8_t)a, (int8_t)b));
        a >>= 8;
        b >>= 8;
    }
    return word;
}

enum kiwicha_status kiwicha_run_simd_add(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_elementwise *p = params;
    const kiwicha_word *input_1 = kiwicha_source(memory, &p->input_1);
    const kiwicha_word *input_2 = kiwicha_source(memory, &p->input_2);
    kiwicha_word *output = kiwicha_target(memory, &p->output);
    const int32_t factor = INT32_C(1) << p->left_shift;
    const struct sum sum = {p->left_shift, p->offset_1 * factor, p->offset_2 * factor};
    kiwicha_cfu_scale(LANE_1, p->multiplier_1, p->shift_1);
    kiwicha_cfu_scale(LANE_2, p->multiplier_2, p->shift_2);
    kiwicha_cfu_scale(LANE_OUTPUT, p->output_multiplier, p->output_shift);
    kiwicha_cfu_output(p->output_offset, p->activation_min, p->activation_max);
    uint32_t words = p->output.bytes / 4;
    for (; words >= 4; words -= 4) {
        /* Both inputs may fall on one line of the cache: read a piece of each in one go. */
        const uint32_t a_0 = input_1[0], a_1 = input_1[1], a_2 = input_1[2], a_3 = input_1[3];
        const uint32_t b_0 = input_2[0], b_1 = input_2[1], b_2 = input_2[2], b_3 = input_2[3];
        output[0] = sum_word(&sum, a_0, b_0);
        output[1] = sum_word(&sum, a_1, b_1);
        output[2] = sum_word(&sum, a_2, b_2);
        output[3] = sum_word(&sum, a_3, b_3);
        input_1 += 4;
        input_2 += 4;
        output += 4;
    }
    for (; words > 0; words--) {
        *output++ = sum_word(&sum, *input_1++, *input_2++);
    }
    const int8_t *last_1 = (const int8_t *)input_1;
    const int8_t *last_2 = (const int8_t *)input_2;
    int8_t *last_output = (int8_t *)output;
    for (uint32_t k = 0; k < p->output.bytes % 4; k++) {
        last_output[k] = (int8_t)sum_of(&sum, last_1[k], last_2[k]);
    }
    return KIWICHA_STATUS_OK;
}
