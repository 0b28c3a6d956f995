/* Calls kernels of custom operators. */
#include "custom.h"

#include <stddef.h>

#include "check.h"
#include "kernels.h"

struct entry {
    uint32_t hash;
    kiwicha_custom_function *function;
};

#define DECLARE(hash, function) kiwicha_custom_function function;
KIWICHA_CUSTOM_OPERATORS(DECLARE)

/* The last one marks the end. */
#define ENTRY(hash, function) {hash, function},
static const struct entry table[] = {KIWICHA_CUSTOM_OPERATORS(ENTRY){0, NULL}};

static kiwicha_custom_function *find(uint32_t hash)
{
    const struct entry *entry = table;
    while (entry->function != NULL && entry->hash != hash) {
        entry++;
    }
    return entry->function;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_custom(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    const struct kiwicha_custom *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    if (find(p->operator_hash) == NULL) {
        return KIWICHA_STATUS_BAD_KERNEL;
    }
    const struct kiwicha_ref inputs[] = {p->input_1, p->input_2, p->input_3, p->input_4};
    kiwicha_require(&check, p->input_count >= 1 && p->input_count <= KIWICHA_MAX_CUSTOM_INPUTS);
    for (uint32_t k = 0; k < KIWICHA_MAX_CUSTOM_INPUTS && check.status == KIWICHA_STATUS_OK; k++) {
        if (k < p->input_count) {
            kiwicha_require_source(&check, &inputs[k], inputs[k].bytes, 4);
        } else {
            kiwicha_require(&check, inputs[k].bytes == 0);
        }
    }
    if (p->parameters.bytes != 0) {
        kiwicha_require_source(&check, &p->parameters, p->parameters.bytes, 4);
    }
    kiwicha_require_target(&check, &p->output, p->output.bytes, 4);
    return check.status;
}

enum kiwicha_status kiwicha_run_custom(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_custom *p = params;
    const struct kiwicha_ref inputs[] = {p->input_1, p->input_2, p->input_3, p->input_4};
    struct kiwicha_custom_call call = {
        .input_count = p->input_count,
        .output = kiwicha_target(memory, &p->output),
        .output_bytes = p->output.bytes,
        .parameters = p->parameters.bytes != 0 ? kiwicha_source(memory, &p->parameters) : NULL,
        .parameters_bytes = p->parameters.bytes,
    };
    for (uint32_t k = 0; k < p->input_count; k++) {
        call.inputs[k] = kiwicha_source(memory, &inputs[k]);
        call.input_bytes[k] = inputs[k].bytes;
    }
    return find(p->operator_hash)(&call);
}
