/* Executes the run that a host describes in the boot block. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../kernels/check.h"
#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "machine.h"
#include "platform.h"
#include "runtime.h"
#include "tensor_sets.h"
#if KIWICHA_CONFIG_ENGINE_MACS
#include "../kernels/engine.h"
#include "stream.h"
#endif

/* Volatile: the host watches `progress` during the run. */
KIWICHA_SMALL static volatile struct kiwicha_boot_block *boot_block(void)
{
    return (volatile struct kiwicha_boot_block *)(uintptr_t)KIWICHA_BOOT_BLOCK_ADDRESS;
}

/* Whether a range is aligned and inside the DRAM that hosts may use. */
KIWICHA_SMALL static bool is_usable(uint32_t address, uint32_t bytes)
{
    uint32_t first = KIWICHA_IMAGE_ADDRESS;
    uint32_t space = KIWICHA_SOC_DRAM_BYTES - (KIWICHA_IMAGE_ADDRESS - KIWICHA_DRAM_BASE);
    return address % KIWICHA_ALIGNMENT_BYTES == 0 && address >= first && bytes <= space &&
           address - first <= space - bytes;
}

KIWICHA_SMALL static bool is_well_formed(const volatile struct kiwicha_boot_block *boot)
{
    return boot->magic == KIWICHA_BOOT_MAGIC && boot->inferences >= 1 &&
           is_usable(boot->program_address, boot->program_bytes) &&
           is_usable(boot->arena_address, boot->arena_bytes) &&
           is_usable(boot->inputs_address, boot->inputs_bytes) &&
           is_usable(boot->cycles_address, boot->cycles_bytes) &&
           (boot->input_sets == 0 || is_usable(boot->outputs_address, boot->outputs_bytes));
}

/* Whether the engine works on an inference while the CPU moves inputs and outputs of others. */
KIWICHA_SMALL static bool is_stream(const struct kiwicha_model *model,
                                    const volatile struct kiwicha_boot_block *boot)
{
    return KIWICHA_CONFIG_ENGINE_MACS != 0 && boot->input_sets != 0 && model->shift_bytes != 0;
}

/* Whether the host's inputs, outputs and table of cycles have the sizes that the opened model
 * needs.
 */
KIWICHA_SMALL static bool fits_model(const struct kiwicha_model *model,
                                     const volatile struct kiwicha_boot_block *boot)
{
    const uint32_t inferences = boot->inferences;
    const uint32_t sets = boot->input_sets;
    const uint32_t words = is_stream(model, boot) ? 1 : kiwicha_cycle_entries(model);
    const uint32_t inputs = kiwicha_platform_set_bytes(model->inputs, model->input_count);
    const uint32_t outputs = kiwicha_platform_set_bytes(model->outputs, model->output_count);
    return kiwicha_saturating_multiply(inputs, sets != 0 ? sets : 1) <= boot->inputs_bytes &&
           (sets == 0 || kiwicha_saturating_multiply(outputs, inferences) <= boot->outputs_bytes) &&
           kiwicha_saturating_multiply(words, inferences) <= boot->cycles_bytes / sizeof(uint32_t);
}

KIWICHA_SMALL static void count_step(void *context, uint32_t step)
{
    volatile struct kiwicha_boot_block *boot = context;
    (void)step;
    boot->progress = boot->progress + 1;
}

/* One inference after the other, each counted step by step; the first has its inputs. Those with
 * the same inputs all begin with the same states. */
KIWICHA_SMALL static __attribute__((noinline)) enum kiwicha_status
run_each(struct kiwicha_model *model, volatile struct kiwicha_boot_block *boot)
{
    uint32_t *cycles = kiwicha_platform_memory(boot->cycles_address);
    const uint8_t *first_set = kiwicha_platform_memory(boot->inputs_address);
    uint8_t *outputs = kiwicha_platform_memory(boot->outputs_address);
    const uint32_t inputs_bytes = kiwicha_platform_set_bytes(model->inputs, model->input_count);
    const uint32_t outputs_bytes = kiwicha_platform_set_bytes(model->outputs, model->output_count);
    const uint32_t entries = kiwicha_cycle_entries(model);
    uint32_t set = 0;
    for (uint32_t finished = 0;;) {
        enum kiwicha_status status =
            kiwicha_invoke(model, cycles, count_step, (void *)(uintptr_t)boot);
        boot->total_cycles = model->cycles;
        if (status != KIWICHA_STATUS_OK) {
            return status;
        }
        if (boot->input_sets != 0) {
            kiwicha_platform_store_outputs(model, model->last_arena, outputs);
            outputs += outputs_bytes;
        }
        if (finished == 0) {
            boot->first_cycles = model->cycles;
        }
        boot->finished = ++finished;
        if (finished >= boot->inferences) {
            return KIWICHA_STATUS_OK;
        }
        cycles += entries;
        if (boot->input_sets == 0 && model->state_count != 0) {
            (void)kiwicha_reset(model);
        }
        set = set + 1 < boot->input_sets ? set + 1 : 0;
        (void)kiwicha_platform_load_inputs(model, first_set + set * inputs_bytes);
    }
}

KIWICHA_SMALL static enum kiwicha_status run_model(struct kiwicha_model *model,
                                                   volatile struct kiwicha_boot_block *boot)
{
#if KIWICHA_CONFIG_ENGINE_MACS
    if (is_stream(model, boot)) {
        return kiwicha_platform_run_stream(model, boot);
    }
#endif
    return run_each(model, boot);
}

/* Opens the model and writes the first inputs to their place, unless a simulation has checked the
 * one and done the other. */
KIWICHA_SMALL static enum kiwicha_status prepare(struct kiwicha_model *model,
                                                 const volatile struct kiwicha_boot_block *boot)
{
    const void *program = kiwicha_platform_memory(boot->program_address);
    void *arena = kiwicha_platform_memory(boot->arena_address);
#if !KIWICHA_HAS_LOADER
    if (boot->prepared != 0) {
        kiwicha_open_checked(model, program, arena);
        return kiwicha_reset(model);
    }
#endif
    const enum kiwicha_status status =
        kiwicha_open(model, program, boot->program_bytes, arena, boot->arena_bytes);
    if (status != KIWICHA_STATUS_OK) {
        return status;
    }
    if (!fits_model(model, boot)) {
        return KIWICHA_STATUS_BAD_BOOT_BLOCK;
    }
    return kiwicha_platform_load_inputs(model, kiwicha_platform_memory(boot->inputs_address));
}

KIWICHA_SMALL static enum kiwicha_status run(volatile struct kiwicha_boot_block *boot)
{
    if (!is_well_formed(boot)) {
        return KIWICHA_STATUS_BAD_BOOT_BLOCK;
    }
    /* On the stack, where the data cache has it beside what functions keep there. */
    struct kiwicha_model model;
    enum kiwicha_status status = prepare(&model, boot);
    if (status != KIWICHA_STATUS_OK) {
        return status;
    }
    status = run_model(&model, boot);
    if (status != KIWICHA_STATUS_OK) {
        boot->failed_step = model.failed_step;
#if KIWICHA_CONFIG_ENGINE_MACS
        boot->engine_status = kiwicha_engine_status();
#endif
    }
    return status;
}

KIWICHA_SMALL int main(void)
{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    volatile struct kiwicha_boot_block *boot = boot_block();
    enum kiwicha_status status = run(boot);
    boot->status = status;
    if (status != KIWICHA_STATUS_OK) {
        kiwicha_platform_print("error: status ");
        kiwicha_platform_print_hex(status);
        kiwicha_platform_print("\n");
    }
    return (int)status;
}
