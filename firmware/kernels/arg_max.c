#include "check.h"
#include "kernels.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_arg_max(const struct kiwicha_memory *memory,
                                                        const void *params)
{
    const struct kiwicha_arg_max *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t outputs = kiwicha_saturating_multiply(p->outer, p->inner);
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(outputs, p->depth), 1);
    kiwicha_require_target(&check, &p->output,
                           kiwicha_saturating_multiply(outputs, sizeof(int32_t)), sizeof(int32_t));
    return check.status;
}

/** ARG_MAX: of equal values the first. */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_arg_max(const struct kiwicha_memory *memory,
                                                      const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_arg_max *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    kiwicha_word *output = kiwicha_target(memory, &p->output);
    for (uint32_t outer = 0; outer < p->outer; outer++) {
        for (uint32_t inner = 0; inner < p->inner; inner++) {
            uint32_t best = 0;
            for (uint32_t k = 1; k < p->depth; k++) {
                if (input[k * p->inner + inner] > input[best * p->inner + inner]) {
                    best = k;
                }
            }
            *output++ = best;
        }
        input += p->depth * p->inner;
    }
    return KIWICHA_STATUS_OK;
}
