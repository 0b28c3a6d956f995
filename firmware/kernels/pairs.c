#include <stddef.h>

#include "check.h"
#include "kernels.h"

#define DIFFERENCES 511u /* of two bytes */

KIWICHA_SMALL enum kiwicha_status kiwicha_check_pairs(const struct kiwicha_memory *memory,
                                                      const void *params)
{
    const struct kiwicha_pairs *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = p->output_bytes;
    const uint32_t elements = kiwicha_saturating_multiply(p->rows, 2);
    kiwicha_require(&check, bytes == 1 || bytes == 2 || bytes == 4);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    kiwicha_require_source(&check, &p->input, elements, 1);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_multiply(elements, bytes), bytes);
    kiwicha_require_source(&check, &p->table, DIFFERENCES * bytes, bytes);
    return check.status;
}

#define LOOK_UP(type)                                                                              \
    do {                                                                                           \
        const type *middle = (const type *)table + DIFFERENCES / 2;                                \
        type *to = output;                                                                         \
        for (const int8_t *end = input + 2 * p->rows; input != end; input += 2) {                  \
            const int32_t difference = input[0] - input[1];                                        \
            *to++ = middle[difference];                                                            \
            *to++ = middle[-difference];                                                           \
        }                                                                                          \
    } while (0)

/** Rows of two bytes, each of which is looked up by its difference to the other one. */
enum kiwicha_status kiwicha_run_pairs(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_pairs *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    const void *table = kiwicha_source(memory, &p->table);
    void *output = kiwicha_target(memory, &p->output);
    switch (p->output_bytes) {
    case 1:
        LOOK_UP(int8_t);
        break;
    case 2:
        LOOK_UP(int16_t);
        break;
    default:
        LOOK_UP(int32_t);
    }
    return KIWICHA_STATUS_OK;
}
