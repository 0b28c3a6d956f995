/* Inferences that make room for more urgent ones. */
#include "suspend.h"

#if KIWICHA_CAN_SUSPEND

#include <stddef.h>

#include "../kernels/check.h"
#include "../kernels/engine.h"

/* Those that have made room, the last one first. */
static struct kiwicha_model *suspended;

static const struct kiwicha_engine_call *call_of(const struct kiwicha_model *model, uint32_t step)
{
    return (const void *)(model->memory.program + model->steps[step].params_offset);
}

/* Returns how much of the scratchpad the lists of a model may use. It is looked up once, and not
 * when the model is opened: only here everything has been checked. */
static uint32_t used_bytes(struct kiwicha_model *model)
{
    uint32_t most = model->scratchpad_bytes;
    for (uint32_t k = 0; model->scratchpad_bytes == 0 && k < model->step_count; k++) {
        if (kiwicha_starts_list(model->steps[k].kernel)) {
            const uint32_t used = call_of(model, k)->scratchpad_bytes;
            most = used > most ? used : most;
        }
    }
    model->scratchpad_bytes = most;
    return most;
}

bool kiwicha_may_use_scratchpad(struct kiwicha_model *model)
{
    for (const struct kiwicha_model *other = suspended; other != NULL;
         other = other->suspension.next) {
        if (other != model && used_bytes(model) > other->suspension.free_bytes) {
            return false;
        }
    }
    return true;
}

void kiwicha_forget_suspension(struct kiwicha_model *model)
{
    struct kiwicha_model **link = &suspended;
    while (*link != NULL && *link != model) {
        link = &(*link)->suspension.next;
    }
    if (*link != NULL) {
        *link = model->suspension.next;
    }
    model->suspension.is_suspended = false;
}

enum kiwicha_status kiwicha_suspend(struct kiwicha_model *model, void *place, uint32_t place_bytes)
{
    if (model == NULL || !model->is_running || model->suspension.is_suspended) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    if (place == NULL || (uintptr_t)place % KIWICHA_ALIGNMENT_BYTES != 0 ||
        place_bytes % KIWICHA_ALIGNMENT_BYTES != 0 ||
        place_bytes <= KIWICHA_SAVED_SCRATCHPAD_HEAD) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    struct kiwicha_suspension *own = &model->suspension;
    const uint32_t room = place_bytes - KIWICHA_SAVED_SCRATCHPAD_HEAD;
    const uint32_t used = model->inference.scratchpad_bytes;
    own->place = place;
    own->saved_bytes = used < room ? used : room;
    own->free_bytes = used <= room ? KIWICHA_CONFIG_SCRATCHPAD_BYTES : room;
    /* While the job goes on. */
    kiwicha_prepare_save(place, own->saved_bytes);
    if (model->inference.is_engine_busy && kiwicha_pause_engine(&own->progress) != 0) {
        /* The list has failed: this ends the inference. */
        return kiwicha_wait(model);
    }
    if (own->saved_bytes != 0) {
        kiwicha_save_scratchpad(place, own->saved_bytes);
    }
    own->is_suspended = true;
    own->next = suspended;
    suspended = model;
    model->is_wanted = false;
    kiwicha_give_device(NULL);
    return KIWICHA_STATUS_OK;
}

enum kiwicha_status kiwicha_resume(struct kiwicha_model *model)
{
    if (model == NULL || !model->is_running || !model->suspension.is_suspended) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    if (!kiwicha_has_free_device()) {
        return KIWICHA_STATUS_BUSY;
    }
    if (!kiwicha_may_use_scratchpad(model)) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    kiwicha_forget_suspension(model);
    kiwicha_give_device(model);
    const struct kiwicha_suspension *own = &model->suspension;
    enum kiwicha_status status = KIWICHA_STATUS_OK;
    if (own->saved_bytes != 0) {
        status = kiwicha_restore_scratchpad(own->place, own->saved_bytes);
    }
    if (status == KIWICHA_STATUS_OK && model->inference.is_engine_busy) {
        const uint32_t step = model->inference.engine_step;
        const void *params = call_of(model, step);
        const struct kiwicha_ref *list = kiwicha_list_place(model->steps[step].kernel, params);
        status = kiwicha_continue_engine(&model->memory, params, list, own->progress);
    }
    return status;
}

void kiwicha_want(struct kiwicha_model *model)
{
    model->is_wanted = true;
}

#endif
