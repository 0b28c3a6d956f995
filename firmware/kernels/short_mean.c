#include <stddef.h>

#include "axes.h"
#include "check.h"
#include "kernels.h"
#include "requantize.h"
#include "shorts.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_short_mean(const struct kiwicha_memory *memory,
                                                           const void *params)
{
    const struct kiwicha_mean *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    uint32_t outputs = 1;
    for (uint32_t k = 0; k < KIWICHA_MAX_RANK; k++) {
        kiwicha_require(&check, p->is_reduced[k] <= 1);
        if (p->is_reduced[k] == 0) {
            outputs = kiwicha_saturating_multiply(outputs, p->shape[k]);
        }
    }
    const uint32_t inputs = kiwicha_saturating_product(p->shape, KIWICHA_MAX_RANK);
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(inputs, sizeof(int16_t)),
                           sizeof(int16_t));
    kiwicha_require_target(&check, &p->output,
                           kiwicha_saturating_multiply(outputs, sizeof(int16_t)), sizeof(int16_t));
    kiwicha_require(&check, p->input_offset == 0 && p->output_offset == 0);
    kiwicha_require_scale(&check, p->multiplier, p->shift);
    return check.status;
}

/** Returns dimensions with the distances of int16. */
KIWICHA_SMALL static struct axes of_shorts(struct axes axes)
{
    for (uint32_t k = 0; k < axes.count; k++) {
        axes.strides[k] *= sizeof(int16_t);
    }
    axes.line_stride *= sizeof(int16_t);
    return axes;
}

static int32_t sum_of(struct axes *reduced, const int8_t *element)
{
    const uint32_t count = reduced->line, stride = reduced->line_stride;
    uint32_t sum = 0;
    do {
        const int8_t *place = element;
        for (uint32_t k = 0; k < count; k++) {
            sum += (uint32_t)*(const int16_t *)(const void *)place;
            place += stride;
        }
    } while (step(reduced, &element));
    return (int32_t)sum;
}

/** MEAN and SUM over any axes; the sum is int32 and wraps. */
enum kiwicha_status kiwicha_run_short_mean(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_mean *p = params;
    const int8_t *origin = kiwicha_source(memory, &p->input);
    int16_t *output = kiwicha_target(memory, &p->output);
    struct axes kept = of_shorts(select_axes(p, 0));
    struct axes reduced = of_shorts(with_a_line(select_axes(p, 1)));
    do {
        const int32_t mean = kiwicha_rescale(sum_of(&reduced, origin), p->multiplier, p->shift);
        *output++ = (int16_t)kiwicha_clamp(mean, INT16_MIN, INT16_MAX);
    } while (step(&kept, &origin));
    return KIWICHA_STATUS_OK;
}
