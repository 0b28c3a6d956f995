#include "check.h"
#include "kernels.h"

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_arg_max_of_parts(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_arg_max_of_parts *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t outputs = kiwicha_saturating_multiply(p->outer, p->inner);
    const uint32_t bytes = kiwicha_saturating_multiply(outputs, p->parts);
    const uint32_t word_bytes = sizeof(kiwicha_word);
    kiwicha_require(&check, p->parts >= 1 && (p->flip == 0 || p->flip == -1) &&
                                (p->words == 1 || p->words == 2));
    kiwicha_require_source(&check, &p->input, bytes, 1);
    kiwicha_require_source(&check, &p->positions, kiwicha_saturating_multiply(bytes, word_bytes),
                           word_bytes);
    kiwicha_require_target(&check, &p->output,
                           kiwicha_saturating_multiply(outputs, p->words * word_bytes), word_bytes);
    return check.status;
}

/** Returns the first of some parts whose byte, `inner` behind that of the one before, is largest.
 */
static inline uint32_t first_largest(const int8_t *byte, uint32_t parts, uint32_t inner,
                                     int32_t flip)
{
    uint32_t place = 0;
    int32_t best = *byte ^ flip;
    for (uint32_t part = 1; part < parts; part++) {
        byte += inner;
        const int32_t value = *byte ^ flip;
        if (value > best) {
            best = value;
            place = part;
        }
    }
    return place;
}

/** ARG_MAX and ARG_MIN of a dimension in parts: of equal values the first. */
enum kiwicha_status kiwicha_run_arg_max_of_parts(const struct kiwicha_memory *memory,
                                                 const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_arg_max_of_parts *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    const kiwicha_word *positions = kiwicha_source(memory, &p->positions);
    kiwicha_word *output = kiwicha_target(memory, &p->output);
    const uint32_t parts = p->parts, inner = p->inner;
    for (uint32_t outer = 0; outer < p->outer; outer++) {
        for (uint32_t k = 0; k < inner; k++) {
            const uint32_t place = first_largest(input + k, parts, inner, p->flip);
            *output++ = place * p->part + positions[place * inner + k];
            if (p->words == 2) {
                *output++ = 0;
            }
        }
        input += parts * inner;
        positions += parts * inner;
    }
    return KIWICHA_STATUS_OK;
}
