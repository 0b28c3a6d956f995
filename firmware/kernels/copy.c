#include <string.h>

#include "check.h"
#include "kernels.h"

#define LAST (KIWICHA_MAX_RANK - 1)

/** Bytes from the first to the last run of one dimension. */
KIWICHA_SMALL static uint32_t reach(uint32_t count, uint32_t stride)
{
    return kiwicha_saturating_multiply(count - 1, stride);
}

KIWICHA_SMALL static uint32_t saturated(uint64_t bytes)
{
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_copy(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    const struct kiwicha_copy *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    uint32_t runs = kiwicha_saturating_product(p->shape, KIWICHA_MAX_RANK);
    kiwicha_require(&check, runs != 0 && p->run_bytes != 0);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    uint64_t before = 0;
    uint64_t input = p->run_bytes;
    uint64_t output = p->run_bytes;
    for (uint32_t k = 0; k < KIWICHA_MAX_RANK; k++) {
        bool is_reversed = p->input_strides[k] < 0;
        uint32_t stride = (uint32_t)p->input_strides[k];
        uint32_t bytes = reach(p->shape[k], is_reversed ? 0u - stride : stride);
        input += bytes;
        before += is_reversed ? bytes : 0;
        output += reach(p->shape[k], p->output_strides[k]);
    }
    kiwicha_require(&check, p->input_start == before);
    kiwicha_require_source(&check, &p->input, saturated(input), 1);
    kiwicha_require_target(&check, &p->output, saturated(output), 1);
    /* Runs without end would all write the same bytes. */
    kiwicha_require(&check, kiwicha_saturating_multiply(runs, p->run_bytes) <= p->output.bytes);
    return check.status;
}

/** Copies the runs of the last dimension. */
static void copy_line(const struct kiwicha_copy *p, uint8_t *to, const uint8_t *from)
{
    const uint32_t count = p->shape[LAST];
    const uint32_t to_stride = p->output_strides[LAST];
    const uint32_t from_stride = (uint32_t)p->input_strides[LAST];
    if (p->run_bytes == 1 && from_stride == 0 && to_stride == 1) {
        memset(to, *from, count);
        return;
    }
    uint32_t from_at = 0; /* wraps where strides go back */
    for (uint32_t k = 0; k < count; k++) {
        if (p->run_bytes == 1) {
            to[k * to_stride] = from[(int32_t)from_at];
        } else {
            memcpy(to + k * to_stride, from + (int32_t)from_at, p->run_bytes);
        }
        from_at += from_stride;
    }
}

enum kiwicha_status kiwicha_run_copy(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_copy *p = params;
    const uint8_t *input = kiwicha_source(memory, &p->input);
    uint8_t *output = kiwicha_target(memory, &p->output);
    uint32_t from = p->input_start;
    uint32_t to = 0;
    uint32_t position[LAST] = {0};
    uint32_t k;
    do {
        copy_line(p, output + to, input + from);
        /* The next line: counters with a carry. Unsigned numbers wrap, sums of strides do not. */
        for (k = LAST; k > 0; k--) {
            const uint32_t from_stride = (uint32_t)p->input_strides[k - 1];
            from += from_stride;
            to += p->output_strides[k - 1];
            if (++position[k - 1] < p->shape[k - 1]) {
                break;
            }
            from -= from_stride * p->shape[k - 1];
            to -= p->output_strides[k - 1] * p->shape[k - 1];
            position[k - 1] = 0;
        }
    } while (k > 0);
    return KIWICHA_STATUS_OK;
}
