#include <string.h>

#include "check.h"
#include "kernels.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_move(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    const struct kiwicha_move *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_source(&check, &p->input, p->output.bytes, 1);
    kiwicha_require_target(&check, &p->output, p->input.bytes, 1);
    return check.status;
}

enum kiwicha_status kiwicha_run_move(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_move *p = params;
    memmove(kiwicha_target(memory, &p->output), kiwicha_source(memory, &p->input), p->output.bytes);
    return KIWICHA_STATUS_OK;
}
