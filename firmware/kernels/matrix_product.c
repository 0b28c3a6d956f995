#include "matrix_product.h"

#include <stddef.h>

#include "kernels.h"
#include "requantize.h"

/** Returns how many matrices a tensor has whose last one is read by the last batch. */
KIWICHA_SMALL static uint32_t count_matrices(const struct kiwicha_matrix_product *p,
                                             const uint32_t *steps)
{
    uint64_t last = 0;
    for (uint32_t k = 0; k < KIWICHA_BATCH_DIMENSIONS; k++) {
        last += kiwicha_saturating_multiply(p->batches[k] - 1, steps[k]);
    }
    return last >= UINT32_MAX ? UINT32_MAX : (uint32_t)last + 1;
}

KIWICHA_SMALL static uint32_t whole_words(uint32_t bytes)
{
    return kiwicha_saturating_multiply(bytes / 4 + (bytes % 4 != 0), 4);
}

/** Bytes of the tables of columns, of the other matrix, and of an input's that is copied. */
KIWICHA_SMALL static uint32_t scratch_bytes(const struct kiwicha_matrix_product *p)
{
    const uint32_t row = whole_words(p->depth), columns = whole_words(p->columns);
    const uint64_t copied = row == p->depth ? 0 : kiwicha_saturating_multiply(p->rows, row);
    const uint64_t total = (uint64_t)kiwicha_saturating_multiply(columns, 3 * sizeof(int32_t)) +
                           kiwicha_saturating_multiply(columns, row) + copied;
    return total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
}

KIWICHA_SMALL void kiwicha_require_matrix_product(struct kiwicha_check *check,
                                                  const struct kiwicha_matrix_product *p,
                                                  bool is_simd)
{
    const uint32_t alignment = is_simd ? sizeof(uint32_t) : 1;
    for (uint32_t k = 0; k < KIWICHA_BATCH_DIMENSIONS; k++) {
        kiwicha_require(check, p->batches[k] != 0);
    }
    if (check->status != KIWICHA_STATUS_OK) {
        return; /* what follows relies on it */
    }
    const uint32_t input[] = {count_matrices(p, p->input_steps), p->rows, p->depth};
    const uint32_t other[] = {count_matrices(p, p->other_steps), p->columns, p->depth};
    const uint32_t output[] = {kiwicha_saturating_product(p->batches, KIWICHA_BATCH_DIMENSIONS),
                               p->rows, p->columns};
    kiwicha_require_source(check, &p->input, kiwicha_saturating_product(input, 3), alignment);
    kiwicha_require_source(check, &p->other, kiwicha_saturating_product(other, 3), alignment);
    kiwicha_require_target(check, &p->output, kiwicha_saturating_product(output, 3), alignment);
    if (p->bias.bytes != 0) {
        kiwicha_require_source(check, &p->bias,
                               kiwicha_saturating_multiply(p->columns, sizeof(int32_t)),
                               sizeof(int32_t));
    }
    kiwicha_require_range(check, p->input_offset, -127, 128);
    kiwicha_require_range(check, p->other_offset, -127, 128);
    kiwicha_require_scale(check, p->multiplier, p->shift);
    kiwicha_require_output(check, p->output_offset, p->activation_min, p->activation_max);
    if (is_simd) {
        kiwicha_require_scratch(check, &p->scratch, scratch_bytes(p));
    }
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_matrix_product(const struct kiwicha_memory *memory,
                                                               const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_matrix_product(&check, params, false);
    return check.status;
}

static int32_t dot(const struct kiwicha_matrix_product *p, const int8_t *a, const int8_t *b,
                   int32_t start)
{
    const int32_t input_offset = p->input_offset, other_offset = p->other_offset;
    uint32_t sum = (uint32_t)start;
    for (uint32_t k = 0; k < p->depth; k++) {
        sum += (uint32_t)((a[k] + input_offset) * (b[k] + other_offset));
    }
    return (int32_t)sum;
}

enum kiwicha_status kiwicha_run_matrix_product(const struct kiwicha_memory *memory,
                                               const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_matrix_product *p = params;
    const int8_t *inputs = kiwicha_source(memory, &p->input);
    const int8_t *others = kiwicha_source(memory, &p->other);
    const int32_t *bias = p->bias.bytes != 0 ? kiwicha_source(memory, &p->bias) : NULL;
    int8_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t batch = 0; batch < kiwicha_batches(p); batch++) {
        const int8_t *input =
            inputs + kiwicha_matrix_of(p, p->input_steps, batch) * p->rows * p->depth;
        const int8_t *other =
            others + kiwicha_matrix_of(p, p->other_steps, batch) * p->columns * p->depth;
        for (uint32_t row = 0; row < p->rows; row++) {
            for (uint32_t column = 0; column < p->columns; column++) {
                const int32_t sum =
                    dot(p, input, other + column * p->depth, bias != NULL ? bias[column] : 0);
                const int32_t scaled = kiwicha_rescale(sum, p->multiplier, p->shift);
                *output++ = (int8_t)kiwicha_clamp(kiwicha_wrapping_add(scaled, p->output_offset),
                                                  p->activation_min, p->activation_max);
            }
            input += p->depth;
        }
    }
    return KIWICHA_STATUS_OK;
}
