#include "check.h"
#include "requantize.h"
#include "simd_kernels.h"

#include "cfu.h"

/* Lanes of the requantizer whose scales are those of the two inputs and of the output. */
enum { LANE_1, LANE_2, LANE_OUTPUT };

static void require_row_major(struct kiwicha_check *check, const uint32_t *shape,
                              const uint32_t *strides)
{
    uint32_t stride = 1;
    for (uint32_t k = KIWICHA_MAX_RANK; k > 0; k--) {
        kiwicha_require(check, shape[k - 1] == 1 || strides[k - 1] == stride);
        stride = kiwicha_saturating_multiply(stride, shape[k - 1]);
    }
}

enum kiwicha_status kiwicha_check_simd_add(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_elementwise *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_elementwise(&check, p, sizeof(kiwicha_word));
    require_row_major(&check, p->shape, p->strides_1);
    require_row_major(&check, p->shape, p->strides_2);
    return check.status;
}

/** Returns the sum of element `index`, as int8. */
KIWICHA_INLINE uint32_t sum_at(const int8_t *input_1, const int8_t *input_2, uint32_t index,
                               int32_t bias_1, int32_t bias_2, uint32_t left_shift)
{
    const int32_t factor = INT32_C(1) << left_shift;
    const int32_t a = kiwicha_cfu_rescale(LANE_1, input_1[index] * factor + bias_1);
    const int32_t b = kiwicha_cfu_rescale(LANE_2, input_2[index] * factor + bias_2);
    return kiwicha_cfu_value(LANE_OUTPUT, kiwicha_wrapping_add(a, b));
}

enum kiwicha_status kiwicha_run_simd_add(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_elementwise *p = params;
    const int8_t *input_1 = kiwicha_source(memory, &p->input_1);
    const int8_t *input_2 = kiwicha_source(memory, &p->input_2);
    int8_t *output = kiwicha_target(memory, &p->output);
    const uint32_t elements = p->output.bytes;
    const uint32_t left_shift = p->left_shift;
    const int32_t bias_1 = p->offset_1 * (INT32_C(1) << left_shift);
    const int32_t bias_2 = p->offset_2 * (INT32_C(1) << left_shift);
    kiwicha_cfu_scale(LANE_1, p->multiplier_1, p->shift_1);
    kiwicha_cfu_scale(LANE_2, p->multiplier_2, p->shift_2);
    kiwicha_cfu_scale(LANE_OUTPUT, p->output_multiplier, p->output_shift);
    kiwicha_cfu_output(p->output_offset, p->activation_min, p->activation_max);
    uint32_t index = 0;
    while (elements - index >= 4) {
        uint32_t word = 0;
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t sum = sum_at(input_1, input_2, index + k, bias_1, bias_2, left_shift);
            word = kiwicha_cfu_pack(word, sum);
        }
        *(kiwicha_word *)(void *)(output + index) = word;
        index += 4;
    }
    for (; index < elements; index++) {
        output[index] = (int8_t)sum_at(input_1, input_2, index, bias_1, bias_2, left_shift);
    }
    return KIWICHA_STATUS_OK;
}
