#include "stream.h"

#include <stddef.h>

#include "../kernels/check.h"
#include "platform.h"
#include "tensor_sets.h"

KIWICHA_SMALL enum kiwicha_status
kiwicha_platform_run_stream(struct kiwicha_model *model, volatile struct kiwicha_boot_block *boot)
{
    const uint32_t outputs_bytes = kiwicha_platform_set_bytes(model->outputs, model->output_count);
    const uint32_t inputs_bytes = kiwicha_platform_set_bytes(model->inputs, model->input_count);
    const uint8_t *first_set = kiwicha_platform_memory(boot->inputs_address);
    uint8_t *outputs = kiwicha_platform_memory(boot->outputs_address);
    uint32_t *ends = kiwicha_platform_memory(boot->cycles_address);
    const uint32_t inferences = boot->inferences;
    uint32_t set = 0;
    enum kiwicha_status status = KIWICHA_STATUS_OK;
    for (uint32_t index = 0; index < inferences && status == KIWICHA_STATUS_OK; ++index) {
        const uint8_t *last_arena = model->last_arena;
        status = kiwicha_start(model, NULL, NULL, NULL);
        if (index > 0) {
            kiwicha_platform_store_outputs(model, last_arena, outputs);
            outputs += outputs_bytes;
        }
        set = set + 1 < boot->input_sets ? set + 1 : 0;
        if (status == KIWICHA_STATUS_OK) {
            status = kiwicha_platform_load_inputs(model, first_set + set * inputs_bytes);
        }
        if (status == KIWICHA_STATUS_OK) {
            status = kiwicha_wait(model);
        }
        ends[index] = kiwicha_platform_cycles();
        boot->finished = index + (status == KIWICHA_STATUS_OK);
        boot->progress = (index + 1) * model->step_count;
    }
    kiwicha_platform_store_outputs(model, model->last_arena, outputs);
    return status;
}
