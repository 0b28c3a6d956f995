/* Execution of an opened model. */
#include <stdbool.h>
#include <stddef.h>

#include "kernel_table.h"
#include "platform.h"
#include "runtime.h"
#if KIWICHA_CONFIG_ENGINE_MACS
#include "../kernels/engine.h"
#endif

static const void *params_of(const struct kiwicha_model *model, uint32_t step)
{
    return model->memory.program + model->steps[step].params_offset;
}

/* Words of the table of cycles behind a step's own. */
static uint32_t engine_words(const struct kiwicha_model *model, uint32_t step)
{
#if KIWICHA_CONFIG_ENGINE_MACS
    if (model->steps[step].kernel == KIWICHA_KERNEL_ENGINE) {
        return kiwicha_engine_cycle_words(params_of(model, step));
    }
#endif
    (void)model;
    (void)step;
    return 0;
}

uint32_t kiwicha_cycle_entries(const struct kiwicha_model *model)
{
    uint32_t entries = 0;
    if (model != NULL) {
        for (uint32_t k = 0; k < model->step_count; k++) {
            entries += 1 + engine_words(model, k);
        }
    }
    return entries;
}

/* One inference on its way. */
struct execution {
    struct kiwicha_model *model;
    uint32_t *cycles; /* next entry of the table of cycles, or null */
#if KIWICHA_CONFIG_ENGINE_MACS
    bool is_engine_busy;
    uint32_t engine_step;
    uint32_t *engine_cycles; /* its entry in the table, or null */
#endif
};

/* Executes a step; a list of the engine is only started. */
static enum kiwicha_status execute(struct execution *execution, uint32_t step)
{
    struct kiwicha_model *model = execution->model;
    const uint32_t begin = kiwicha_platform_cycles();
    const struct kiwicha_kernel_entry *entry = kiwicha_find_kernel(model->steps[step].kernel);
    const enum kiwicha_status status = entry == NULL
                                           ? KIWICHA_STATUS_BAD_KERNEL
                                           : entry->run(&model->memory, params_of(model, step));
    const uint32_t spent = kiwicha_platform_cycles() - begin;
    if (status != KIWICHA_STATUS_OK) {
        model->failed_step = step;
        return status;
    }
    model->cycles += spent;
    uint32_t *own = execution->cycles;
    if (own != NULL) {
        *own = spent;
        execution->cycles += 1 + engine_words(model, step);
    }
#if KIWICHA_CONFIG_ENGINE_MACS
    if (model->steps[step].kernel == KIWICHA_KERNEL_ENGINE) {
        execution->is_engine_busy = true;
        execution->engine_step = step;
        execution->engine_cycles = own;
    }
#endif
    return KIWICHA_STATUS_OK;
}

/* Waits for the engine if the steps that run beside its list have been executed, or at once. */
static enum kiwicha_status finish_engine(struct execution *execution, uint32_t step, bool at_once)
{
#if KIWICHA_CONFIG_ENGINE_MACS
    struct kiwicha_model *model = execution->model;
    if (!execution->is_engine_busy) {
        return KIWICHA_STATUS_OK;
    }
    const struct kiwicha_engine_call *call = params_of(model, execution->engine_step);
    if (!at_once && step < execution->engine_step + call->overlapped_steps) {
        return KIWICHA_STATUS_OK;
    }
    const uint32_t begin = kiwicha_platform_cycles();
    const enum kiwicha_status status = kiwicha_wait_engine(&model->memory);
    const uint32_t spent = kiwicha_platform_cycles() - begin;
    execution->is_engine_busy = false;
    if (status != KIWICHA_STATUS_OK) {
        model->failed_step = execution->engine_step;
        return status;
    }
    model->cycles += spent;
    if (execution->engine_cycles != NULL) {
        *execution->engine_cycles += spent;
        kiwicha_read_engine_cycles(call, execution->engine_cycles + 1);
    }
#else
    (void)execution;
    (void)step;
    (void)at_once;
#endif
    return KIWICHA_STATUS_OK;
}

enum kiwicha_status kiwicha_invoke(struct kiwicha_model *model, uint32_t *cycles,
                                   void (*on_step)(void *context, uint32_t step), void *context)
{
    if (model == NULL || model->memory.program == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    model->cycles = 0;
    struct execution execution = {.model = model, .cycles = cycles};
    for (uint32_t k = 0; k < model->step_count; k++) {
        enum kiwicha_status status = execute(&execution, k);
        /* Nothing is left running behind a step that failed. */
        const bool is_last = status != KIWICHA_STATUS_OK || k + 1 == model->step_count;
        const enum kiwicha_status engine_status = finish_engine(&execution, k, is_last);
        if (status == KIWICHA_STATUS_OK) {
            status = engine_status;
        }
        if (status != KIWICHA_STATUS_OK) {
            return status;
        }
        if (on_step != NULL) {
            on_step(context, k);
        }
    }
    return KIWICHA_STATUS_OK;
}
