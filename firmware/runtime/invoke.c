/* Execution of an opened model. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../kernels/check.h"
#include "kernel_table.h"
#include "platform.h"
#include "runtime.h"
#include "suspend.h"
#if KIWICHA_CONFIG_ENGINE_MACS
#include "../kernels/engine.h"
#endif

#if KIWICHA_SEVERAL_MODELS
/* The device: the model whose inference has begun and has not ended. */
static const struct kiwicha_model *running_model;
#endif

static bool is_device_free(void)
{
#if KIWICHA_SEVERAL_MODELS
    return running_model == NULL;
#else
    return true;
#endif
}

/* Lets the device work for a model, or for none. */
static void take_device(const struct kiwicha_model *model)
{
#if KIWICHA_SEVERAL_MODELS
    running_model = model;
#else
    (void)model;
#endif
}

#if KIWICHA_CAN_SUSPEND
bool kiwicha_has_free_device(void)
{
    return is_device_free();
}

void kiwicha_give_device(const struct kiwicha_model *model)
{
    take_device(model);
}
#endif

static const void *params_of(const struct kiwicha_model *model, uint32_t step)
{
    return model->memory.program + model->steps[step].params_offset;
}

/* Words of the table of cycles behind a step's own. */
static uint32_t engine_words(const struct kiwicha_model *model, uint32_t step)
{
#if KIWICHA_CONFIG_ENGINE_MACS
    if (kiwicha_starts_list(model->steps[step].kernel)) {
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

/* Returns the cycles since `counted`, which becomes now. */
static uint32_t count_until_now(uint32_t *counted)
{
    const uint32_t begin = *counted;
    *counted = kiwicha_platform_cycles();
    return *counted - begin;
}

/* Executes the next step; a list of the engine is only started. What passed since `counted` counts
 * for it. */
static enum kiwicha_status execute(struct kiwicha_model *model, uint32_t *counted)
{
    struct kiwicha_inference *run = &model->inference;
    const uint32_t step = run->next_step++;
    const struct kiwicha_kernel_entry *entry = kiwicha_find_kernel(model->steps[step].kernel);
    const enum kiwicha_status status = entry == NULL
                                           ? KIWICHA_STATUS_BAD_KERNEL
                                           : entry->run(&model->memory, params_of(model, step));
    const uint32_t spent = count_until_now(counted);
    if (status != KIWICHA_STATUS_OK) {
        model->failed_step = step;
        return status;
    }
    model->cycles += spent;
    uint32_t *own = run->cycles;
    if (own != NULL) {
        *own = spent;
        run->cycles += 1 + engine_words(model, step);
    }
#if KIWICHA_CONFIG_ENGINE_MACS
    if (kiwicha_starts_list(model->steps[step].kernel)) {
        const struct kiwicha_engine_call *call = params_of(model, step);
        run->is_engine_busy = true;
        run->engine_step = step;
        run->last_beside = step + call->overlapped_steps;
        run->engine_cycles = own;
#if KIWICHA_CAN_SUSPEND
        run->scratchpad_bytes = call->scratchpad_bytes;
#endif
    }
#endif
    return KIWICHA_STATUS_OK;
}

/* Whether a list has been started, and so have all steps that run beside it. */
static bool has_only_engine(const struct kiwicha_model *model)
{
#if KIWICHA_CONFIG_ENGINE_MACS
    const struct kiwicha_inference *run = &model->inference;
    return run->is_engine_busy && run->next_step > run->last_beside;
#else
    (void)model;
    return false;
#endif
}

/* Waits for the engine, if it has been started. What passed since `counted` counts for its list. */
static enum kiwicha_status finish_engine(struct kiwicha_model *model, uint32_t *counted)
{
#if KIWICHA_CONFIG_ENGINE_MACS
    struct kiwicha_inference *run = &model->inference;
    if (!run->is_engine_busy) {
        return KIWICHA_STATUS_OK;
    }
    /* Behind the last step comes the first one, of the next inference. */
    const uint32_t next = run->next_step < model->step_count ? run->next_step : 0;
    const enum kiwicha_status status = kiwicha_wait_engine(&model->memory, &model->steps[next]);
    const uint32_t spent = count_until_now(counted);
    run->is_engine_busy = false;
    if (status != KIWICHA_STATUS_OK) {
        model->failed_step = run->engine_step;
        return status;
    }
    model->cycles += spent;
    if (run->engine_cycles != NULL) {
        *run->engine_cycles += spent;
        kiwicha_read_engine_cycles(params_of(model, run->engine_step), run->engine_cycles + 1);
    }
#else
    (void)model;
    (void)counted;
#endif
    return KIWICHA_STATUS_OK;
}

/* Whether steps or a list of the engine are left. */
static bool has_work(const struct kiwicha_model *model)
{
    const struct kiwicha_inference *run = &model->inference;
    return run->next_step < model->step_count || run->is_engine_busy;
}

static bool is_engine_working(void)
{
#if KIWICHA_CONFIG_ENGINE_MACS
    return kiwicha_is_engine_working();
#else
    return false;
#endif
}

/* Copies inputs or outputs between their place and what an inference with states works with. */
KIWICHA_SMALL static __attribute__((noinline)) void
copy_tensors(uint8_t *to, const uint8_t *from, const struct kiwicha_io_record *tensors,
             uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        const struct kiwicha_ref *tensor = &tensors[k].tensor;
        memcpy(to + tensor->offset, from + tensor->offset, tensor->bytes);
    }
}

/* Whether an inference works with copies of inputs and outputs: states stay where they are. */
static bool has_copies(const struct kiwicha_model *model)
{
    return model->state_count != 0 && model->shift_bytes != 0;
}

/* Executes what is left of an inference: all of it, or until there is only the engine to wait for.
 */
static __attribute__((noinline)) enum kiwicha_status go_on(struct kiwicha_model *model, bool waits)
{
    const struct kiwicha_inference *run = &model->inference;
    enum kiwicha_status status = KIWICHA_STATUS_OK;
    uint32_t counted = kiwicha_platform_cycles();
    while (status == KIWICHA_STATUS_OK && has_work(model)) {
        if (!has_only_engine(model)) {
            status = execute(model, &counted);
        }
        /* Nothing is left running behind a step that failed. */
        if (status != KIWICHA_STATUS_OK || has_only_engine(model)) {
            if (status == KIWICHA_STATUS_OK && !waits && is_engine_working()) {
                return KIWICHA_STATUS_OK;
            }
            const enum kiwicha_status engine_status = finish_engine(model, &counted);
            status = status == KIWICHA_STATUS_OK ? engine_status : status;
        }
        if (status == KIWICHA_STATUS_OK && run->on_step != NULL) {
            run->on_step(run->context, run->next_step - 1);
            counted = kiwicha_platform_cycles();
        }
        if (status == KIWICHA_STATUS_OK && !waits && kiwicha_is_wanted(model) && has_work(model)) {
            return KIWICHA_STATUS_OK;
        }
    }
    take_device(NULL);
    model->is_running = false;
    model->last_arena = run->place;
    if (has_copies(model)) {
        copy_tensors(run->place, model->arena + 2 * model->shift_bytes, model->outputs,
                     model->output_count);
    }
    return status;
}

static bool is_idle(const struct kiwicha_model *model)
{
    return model != NULL && model->memory.program != NULL && !model->is_running;
}

/* Begins an inference where its inputs have been written, and goes on with it. */
static __attribute__((noinline)) enum kiwicha_status
begin(struct kiwicha_model *model, uint32_t *cycles, void (*on_step)(void *context, uint32_t step),
      void *context, bool waits)
{
    if (!is_idle(model)) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    if (!is_device_free()) {
        return KIWICHA_STATUS_BUSY;
    }
#if KIWICHA_CAN_SUSPEND
    if (!kiwicha_may_use_scratchpad(model)) {
        return KIWICHA_STATUS_BUSY;
    }
    model->is_wanted = false;
    model->inference.scratchpad_bytes = 0;
#endif
    take_device(model);
    uint8_t *const place = model->next_arena;
    /* One by one: clearing all of it would be a call. */
    struct kiwicha_inference *run = &model->inference;
    run->place = place;
    run->cycles = cycles;
    run->on_step = on_step;
    run->context = context;
    run->next_step = 0;
    run->is_engine_busy = false;
    model->cycles = 0;
    model->is_running = true;
    model->next_arena = model->arena + (place == model->arena ? model->shift_bytes : 0);
    if (model->state_count == 0) {
        model->memory.arena = place;
    } else if (has_copies(model)) {
        copy_tensors(model->arena + 2 * model->shift_bytes, place, model->inputs,
                     model->input_count);
    }
    return go_on(model, waits);
}

enum kiwicha_status kiwicha_invoke(struct kiwicha_model *model, uint32_t *cycles,
                                   void (*on_step)(void *context, uint32_t step), void *context)
{
    return begin(model, cycles, on_step, context, true);
}

enum kiwicha_status kiwicha_start(struct kiwicha_model *model, uint32_t *cycles,
                                  void (*on_step)(void *context, uint32_t step), void *context)
{
    return begin(model, cycles, on_step, context, false);
}

enum kiwicha_status kiwicha_poll(struct kiwicha_model *model)
{
    return model != NULL && kiwicha_can_go_on(model) ? go_on(model, false) : KIWICHA_STATUS_OK;
}

enum kiwicha_status kiwicha_wait(struct kiwicha_model *model)
{
    return model != NULL && kiwicha_can_go_on(model) ? go_on(model, true) : KIWICHA_STATUS_OK;
}
