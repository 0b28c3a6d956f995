#include "check.h"
#include "kernels.h"

#define ENTRIES 256

KIWICHA_SMALL enum kiwicha_status kiwicha_check_lookup(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    const struct kiwicha_lookup *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_source(&check, &p->input, p->output.bytes, 1);
    kiwicha_require_target(&check, &p->output, p->input.bytes, 1);
    kiwicha_require_source(&check, &p->table, ENTRIES, 1);
    kiwicha_require(&check, (p->table.offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    return check.status;
}

KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_lookup(const struct kiwicha_memory *memory,
                                                        const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lookup *p = params;
    const uint8_t *input = kiwicha_source(memory, &p->input);
    const int8_t *table = kiwicha_source(memory, &p->table);
    int8_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t k = 0; k < p->output.bytes; k++) {
        output[k] = table[input[k]];
    }
    return KIWICHA_STATUS_OK;
}
