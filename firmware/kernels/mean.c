#include "axes.h"
#include "check.h"
#include "kernels.h"
#include "requantize.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_mean(const struct kiwicha_memory *memory,
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
    kiwicha_require_source(&check, &p->input,
                           kiwicha_saturating_product(p->shape, KIWICHA_MAX_RANK), 1);
    kiwicha_require_target(&check, &p->output, outputs, 1);
    kiwicha_require_range(&check, p->input_offset, -127, 128);
    kiwicha_require_output(&check, p->output_offset, INT8_MIN, INT8_MAX);
    kiwicha_require_scale(&check, p->multiplier, p->shift);
    return check.status;
}

static int32_t sum_of(const struct kiwicha_mean *p, struct axes *reduced, const int8_t *element)
{
    const uint32_t count = reduced->line, stride = reduced->line_stride;
    uint32_t sum = 0;
    do {
        const int8_t *place = element;
        for (uint32_t k = 0; k < count; k++) {
            sum += (uint32_t)(*place + p->input_offset);
            place += stride;
        }
    } while (step(reduced, &element));
    return kiwicha_wrapping_add(kiwicha_rescale((int32_t)sum, p->multiplier, p->shift),
                                p->output_offset);
}

/** Returns the largest byte, after an exchange of the bits of `flip`. */
static inline int32_t largest(struct axes *reduced, const int8_t *element, int32_t flip)
{
    const uint32_t count = reduced->line, stride = reduced->line_stride;
    int32_t maximum = INT8_MIN;
    do {
        const int8_t *place = element;
        for (uint32_t k = 0; k < count; k++) {
            const int32_t value = *place ^ flip;
            maximum = value > maximum ? value : maximum;
            place += stride;
        }
    } while (step(reduced, &element));
    return maximum ^ flip;
}

static int32_t maximum_of(const struct kiwicha_mean *p, struct axes *reduced, const int8_t *element)
{
    (void)p;
    return largest(reduced, element, 0);
}

static int32_t minimum_of(const struct kiwicha_mean *p, struct axes *reduced, const int8_t *element)
{
    (void)p;
    return largest(reduced, element, -1);
}

KIWICHA_FALLBACK static __attribute__((noinline)) enum kiwicha_status
run(const struct kiwicha_memory *memory, const void *params,
    int32_t (*reduce)(const struct kiwicha_mean *, struct axes *, const int8_t *))
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_mean *p = params;
    const int8_t *origin = kiwicha_source(memory, &p->input);
    int8_t *output = kiwicha_target(memory, &p->output);
    struct axes kept = select_axes(p, 0);
    struct axes reduced = with_a_line(select_axes(p, 1));
    do {
        *output++ = (int8_t)kiwicha_clamp(reduce(p, &reduced, origin), INT8_MIN, INT8_MAX);
    } while (step(&kept, &origin));
    return KIWICHA_STATUS_OK;
}

/** MEAN and SUM over any axes; the sum is int32 and wraps. */
KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_mean(const struct kiwicha_memory *memory,
                                                      const void *params)
{
    return run(memory, params, sum_of);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_run_reduce_max(const struct kiwicha_memory *memory,
                                                         const void *params)
{
    return run(memory, params, maximum_of);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_run_reduce_min(const struct kiwicha_memory *memory,
                                                         const void *params)
{
    return run(memory, params, minimum_of);
}
