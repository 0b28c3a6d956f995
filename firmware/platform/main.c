/* Executes the run that a host describes in the boot block. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../kernels/check.h"
#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "machine.h"
#include "platform.h"
#include "runtime.h"
#if KIWICHA_CONFIG_ENGINE_MACS
#include "../kernels/engine.h"
#endif

static struct kiwicha_model model;

/* Volatile: the host watches `progress` during the run. */
KIWICHA_SMALL static volatile struct kiwicha_boot_block *boot_block(void)
{
    return (volatile struct kiwicha_boot_block *)(uintptr_t)KIWICHA_BOOT_BLOCK_ADDRESS;
}

KIWICHA_SMALL static void *memory_at(uint32_t address)
{
    return (void *)(uintptr_t)address;
}

KIWICHA_SMALL static uint32_t align_up(uint32_t bytes)
{
    return (bytes + KIWICHA_ALIGNMENT_BYTES - 1) & ~(uint32_t)(KIWICHA_ALIGNMENT_BYTES - 1);
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
           is_usable(boot->cycles_address, boot->cycles_bytes);
}

/* Whether the host's inputs and the table of cycles have the sizes that the opened model needs. */
KIWICHA_SMALL static bool fits_model(const volatile struct kiwicha_boot_block *boot)
{
    uint64_t inputs_bytes = 0;
    for (uint32_t index = 0; index < model.input_count; ++index) {
        inputs_bytes += align_up(model.inputs[index].tensor.bytes);
    }
    uint64_t cycles_bytes =
        (uint64_t)boot->inferences * kiwicha_cycle_entries(&model) * sizeof(uint32_t);
    return inputs_bytes <= boot->inputs_bytes && cycles_bytes <= boot->cycles_bytes;
}

KIWICHA_SMALL static void copy_inputs(uint8_t *arena, const uint8_t *inputs)
{
    for (uint32_t index = 0; index < model.input_count; ++index) {
        struct kiwicha_ref tensor = model.inputs[index].tensor;
        memcpy(arena + tensor.offset, inputs, tensor.bytes);
        inputs += align_up(tensor.bytes);
    }
}

KIWICHA_SMALL static void count_step(void *context, uint32_t step)
{
    volatile struct kiwicha_boot_block *boot = context;
    (void)step;
    boot->progress = boot->progress + 1;
}

KIWICHA_SMALL static enum kiwicha_status run(volatile struct kiwicha_boot_block *boot)
{
    if (!is_well_formed(boot)) {
        return KIWICHA_STATUS_BAD_BOOT_BLOCK;
    }
    void *arena = memory_at(boot->arena_address);
    enum kiwicha_status status = kiwicha_open(&model, memory_at(boot->program_address),
                                              boot->program_bytes, arena, boot->arena_bytes);
    if (status != KIWICHA_STATUS_OK) {
        return status;
    }
    if (!fits_model(boot)) {
        return KIWICHA_STATUS_BAD_BOOT_BLOCK;
    }
    uint32_t *cycles = memory_at(boot->cycles_address);
    uint32_t inferences = boot->inferences;
    for (uint32_t index = 0; index < inferences; ++index) {
        copy_inputs(arena, memory_at(boot->inputs_address));
        status = kiwicha_invoke(&model, cycles, count_step, (void *)(uintptr_t)boot);
        boot->total_cycles = model.cycles;
        if (status != KIWICHA_STATUS_OK) {
            boot->failed_step = model.failed_step;
#if KIWICHA_CONFIG_ENGINE_MACS
            boot->engine_status = kiwicha_engine_status();
#endif
            return status;
        }
        if (index == 0) {
            boot->first_cycles = boot->total_cycles;
        }
        boot->finished = index + 1;
        cycles += kiwicha_cycle_entries(&model);
    }
    return KIWICHA_STATUS_OK;
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
