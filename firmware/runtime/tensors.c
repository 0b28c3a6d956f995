/* Inputs, outputs and states of an opened model. */

#include <stdbool.h>
#include <stddef.h>

#include "../kernels/check.h"
#include "runtime.h"
#include "suspend.h"

static bool is_open(const struct kiwicha_model *model)
{
    return model != NULL && model->memory.program != NULL;
}

static bool is_same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

void *kiwicha_tensor_data(const struct kiwicha_model *model, const struct kiwicha_io_record *tensor)
{
    if (!is_open(model) || tensor == NULL) {
        return NULL;
    }
    const uintptr_t distance = (uintptr_t)tensor - (uintptr_t)model->inputs;
    const bool is_input = distance < model->input_count * sizeof(*tensor);
    return (is_input ? model->next_arena : model->last_arena) + tensor->tensor.offset;
}

const char *kiwicha_tensor_name(const struct kiwicha_model *model,
                                const struct kiwicha_io_record *tensor)
{
    if (!is_open(model) || tensor == NULL) {
        return NULL;
    }
    const struct kiwicha_program_header *header = (const void *)model->memory.program;
    return (const char *)model->memory.program + header->names_offset + tensor->name_offset;
}

static const struct kiwicha_io_record *find(const struct kiwicha_model *model, const char *name,
                                            const struct kiwicha_io_record *tensors, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        if (is_same(kiwicha_tensor_name(model, &tensors[k]), name)) {
            return &tensors[k];
        }
    }
    return NULL;
}

const struct kiwicha_io_record *kiwicha_find_input(const struct kiwicha_model *model,
                                                   const char *name)
{
    return is_open(model) && name != NULL ? find(model, name, model->inputs, model->input_count)
                                          : NULL;
}

const struct kiwicha_io_record *kiwicha_find_output(const struct kiwicha_model *model,
                                                    const char *name)
{
    return is_open(model) && name != NULL ? find(model, name, model->outputs, model->output_count)
                                          : NULL;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_reset(struct kiwicha_model *model)
{
    if (!is_open(model) || model->is_running) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    for (uint32_t k = 0; k < model->state_count; k++) {
        const struct kiwicha_state_record *state = &model->states[k];
        uint8_t *tensor = kiwicha_target(&model->memory, &state->tensor);
        const uint8_t *first = kiwicha_source(&model->memory, &state->first);
        const uint32_t step = state->first.bytes > 1;
        for (uint32_t byte = 0; byte < state->tensor.bytes; byte++) {
            tensor[byte] = *first;
            first += step;
        }
    }
    return KIWICHA_STATUS_OK;
}

void kiwicha_close(struct kiwicha_model *model)
{
    if (model != NULL) {
        /* Nothing may go on writing to the arena. */
        (void)kiwicha_wait(model);
#if KIWICHA_CAN_SUSPEND
        kiwicha_forget_suspension(model);
#endif
        *model = (struct kiwicha_model){0};
    }
}
