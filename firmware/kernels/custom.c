/* Calls kernels of custom operators. */
#include "custom.h"

#include <stdbool.h>
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

KIWICHA_SMALL static kiwicha_custom_function *find(uint32_t hash)
{
    const struct entry *entry = table;
    while (entry->function != NULL && entry->hash != hash) {
        entry++;
    }
    return entry->function;
}

#define SHARED KIWICHA_SMALL static __attribute__((noinline))

SHARED void require_input(struct kiwicha_check *check, const struct kiwicha_ref *input,
                          bool is_used)
{
    if (is_used) {
        kiwicha_require_source(check, input, input->bytes, 4);
    } else {
        kiwicha_require(check, input->bytes == 0);
    }
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_custom(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    const struct kiwicha_custom *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    if (find(p->operator_hash) == NULL) {
        return KIWICHA_STATUS_BAD_KERNEL;
    }
    kiwicha_require_range(&check, (int32_t)p->input_count, 1, KIWICHA_MAX_CUSTOM_INPUTS);
    require_input(&check, &p->input_1, true);
    require_input(&check, &p->input_2, p->input_count >= 2);
    require_input(&check, &p->input_3, p->input_count >= 3);
    require_input(&check, &p->input_4, p->input_count >= 4);
    require_input(&check, &p->parameters, p->parameters.bytes != 0);
    kiwicha_require_target(&check, &p->output, p->output.bytes, 4);
    return check.status;
}

SHARED const void *data_of(const struct kiwicha_memory *memory, const struct kiwicha_ref *ref)
{
    return ref->bytes != 0 ? kiwicha_source(memory, ref) : NULL;
}

/** Operators of installed packages; see custom.h. */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_custom(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_custom *p = params;
    const struct kiwicha_custom_call call = {
        {data_of(memory, &p->input_1), data_of(memory, &p->input_2), data_of(memory, &p->input_3),
         data_of(memory, &p->input_4)},
        {p->input_1.bytes, p->input_2.bytes, p->input_3.bytes, p->input_4.bytes},
        p->input_count,
        kiwicha_target(memory, &p->output),
        p->output.bytes,
        data_of(memory, &p->parameters),
        p->parameters.bytes,
    };
    return find(p->operator_hash)(&call);
}
