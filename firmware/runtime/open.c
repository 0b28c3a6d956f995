/* Checks of everything that decides what an inference reads or writes. */
#include <stddef.h>

#include "../kernels/check.h"
#include "kernel_table.h"
#include "runtime.h"
#if KIWICHA_CONFIG_HAS_SIMD
#include "../kernels/cfu.h"
#endif
#if KIWICHA_CONFIG_ENGINE_MACS
#include "../kernels/engine.h"
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "Programs are little-endian");

#define CHECKED_FROM offsetof(struct kiwicha_program_header, total_bytes)

static bool is_aligned(const void *pointer)
{
    return (uintptr_t)pointer % KIWICHA_ALIGNMENT_BYTES == 0;
}

static bool overlap(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes)
{
    uintptr_t begin_a = (uintptr_t)a;
    uintptr_t begin_b = (uintptr_t)b;
    return begin_a <= begin_b ? begin_b - begin_a < a_bytes : begin_a - begin_b < b_bytes;
}

KIWICHA_SMALL static bool checksum_holds(const struct kiwicha_program_header *header)
{
    const uint32_t *word = (const uint32_t *)(const void *)((const uint8_t *)header + CHECKED_FROM);
    uint32_t sum = 0;
    uint32_t sum_of_sums = 0;
    for (uint32_t k = 0; k < (header->total_bytes - CHECKED_FROM) / 4; k++) {
        sum += word[k];
        sum_of_sums += sum;
    }
    return sum == header->checksum[0] && sum_of_sums == header->checksum[1];
}

/** Whether `count` records of `bytes` lie inside the Program, word-aligned. */
KIWICHA_SMALL static bool has_records(const struct kiwicha_program_header *header, uint32_t offset,
                                      uint32_t count, uint32_t bytes)
{
    uint32_t size = kiwicha_saturating_multiply(count, bytes);
    return offset % 4 == 0 && offset <= header->total_bytes && size <= header->total_bytes - offset;
}

KIWICHA_SMALL static enum kiwicha_status check_header(const struct kiwicha_program_header *header,
                                                      uint32_t program_bytes)
{
    if (header->magic != KIWICHA_PROGRAM_MAGIC) {
        return KIWICHA_STATUS_BAD_MAGIC;
    }
    if (header->version != KIWICHA_PROGRAM_VERSION) {
        return KIWICHA_STATUS_BAD_VERSION;
    }
    if (header->config_hash != KIWICHA_CONFIG_HASH) {
        return KIWICHA_STATUS_BAD_CONFIG;
    }
    if (header->total_bytes != program_bytes || program_bytes % 4 != 0) {
        return KIWICHA_STATUS_BAD_BOUNDS;
    }
    if (!checksum_holds(header)) {
        return KIWICHA_STATUS_BAD_CHECKSUM;
    }
    const bool is_inside =
        has_records(header, header->steps_offset, header->step_count,
                    sizeof(struct kiwicha_step_record)) &&
        has_records(header, header->layers_offset, header->layer_count,
                    sizeof(struct kiwicha_layer_record)) &&
        has_records(header, header->inputs_offset, header->input_count,
                    sizeof(struct kiwicha_io_record)) &&
        has_records(header, header->outputs_offset, header->output_count,
                    sizeof(struct kiwicha_io_record)) &&
        has_records(header, header->states_offset, header->state_count,
                    sizeof(struct kiwicha_state_record)) &&
        has_records(header, header->names_offset, header->names_bytes, 1) &&
        has_records(header, header->constants_offset, header->constants_bytes, 1);
    /* With states what inferences work with is a third part of its own. */
    const uint32_t parts = header->state_count != 0 ? 3 : 2;
    const bool is_shift_good = header->shift_bytes % KIWICHA_CACHE_LINE_BYTES == 0 &&
                               header->shift_bytes <= header->arena_bytes / parts;
    if (!is_inside || !is_shift_good || header->arena_bytes >= KIWICHA_REF_CONSTANT_BIT ||
        header->total_bytes >= KIWICHA_REF_CONSTANT_BIT) {
        return KIWICHA_STATUS_BAD_BOUNDS;
    }
    const uint8_t *names = (const uint8_t *)header + header->names_offset;
    if (header->names_bytes != 0 && names[header->names_bytes - 1] != 0) {
        return KIWICHA_STATUS_BAD_BOUNDS;
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL static enum kiwicha_status check_layers(const struct kiwicha_program_header *header)
{
    const struct kiwicha_layer_record *layers =
        (const void *)((const uint8_t *)header + header->layers_offset);
    struct kiwicha_check check = {NULL, KIWICHA_STATUS_OK};
    for (uint32_t k = 0; k < header->layer_count; k++) {
        kiwicha_require(&check, layers[k].name_offset < header->names_bytes);
        kiwicha_require(&check, layers[k].rank <= KIWICHA_MAX_RANK);
    }
    return check.status;
}

KIWICHA_SMALL static enum kiwicha_status check_tensors(const struct kiwicha_model *model,
                                                       const struct kiwicha_program_header *header,
                                                       const struct kiwicha_io_record *tensors,
                                                       uint32_t count)
{
    static const uint8_t bytes_of[] = {
        [KIWICHA_DTYPE_INT8] = 1,  [KIWICHA_DTYPE_UINT8] = 1, [KIWICHA_DTYPE_BOOL] = 1,
        [KIWICHA_DTYPE_INT16] = 2, [KIWICHA_DTYPE_INT32] = 4, [KIWICHA_DTYPE_FLOAT32] = 4,
        [KIWICHA_DTYPE_INT64] = 8,
    };
    /* Where the inferences before and behind leave them alone. */
    struct kiwicha_memory memory = model->memory;
    if (model->shift_bytes != 0) {
        memory.arena_bytes = model->shift_bytes;
    }
    struct kiwicha_check check = {&memory, KIWICHA_STATUS_OK};
    for (uint32_t k = 0; k < count; k++) {
        const struct kiwicha_io_record *tensor = &tensors[k];
        kiwicha_require(&check, tensor->name_offset < header->names_bytes);
        kiwicha_require(&check, tensor->rank <= KIWICHA_MAX_RANK);
        kiwicha_require_range(&check, tensor->dtype, KIWICHA_DTYPE_INT8, KIWICHA_DTYPE_BOOL);
        if (check.status != KIWICHA_STATUS_OK) {
            break;
        }
        uint32_t elements = kiwicha_saturating_product(tensor->shape, tensor->rank);
        kiwicha_require_target(&check, &tensor->tensor,
                               kiwicha_saturating_multiply(elements, bytes_of[tensor->dtype]), 4);
    }
    return check.status;
}

KIWICHA_SMALL static enum kiwicha_status check_states(const struct kiwicha_model *model)
{
    struct kiwicha_check check = {&model->memory, KIWICHA_STATUS_OK};
    for (uint32_t k = 0; k < model->state_count; k++) {
        const struct kiwicha_state_record *state = &model->states[k];
        const uint32_t first_bytes = state->first.bytes == 1 ? 1 : state->tensor.bytes;
        kiwicha_require_target(&check, &state->tensor, state->tensor.bytes, 1);
        kiwicha_require_source(&check, &state->first, first_bytes, 1);
    }
    return check.status;
}

KIWICHA_SMALL static enum kiwicha_status check_step(const struct kiwicha_model *model,
                                                    const struct kiwicha_program_header *header,
                                                    const struct kiwicha_step_record *step)
{
    const struct kiwicha_kernel_entry *entry = kiwicha_find_kernel(step->kernel);
    if (entry == NULL) {
        return KIWICHA_STATUS_BAD_KERNEL;
    }
    if (step->layer >= header->layer_count || step->params_bytes != entry->params_bytes) {
        return KIWICHA_STATUS_BAD_PARAMETERS;
    }
    if (step->params_offset % 4 != 0 || step->params_offset < model->memory.constants_offset ||
        step->params_offset > model->memory.constants_end ||
        step->params_bytes > model->memory.constants_end - step->params_offset) {
        return KIWICHA_STATUS_BAD_BOUNDS;
    }
    return entry->check(&model->memory, model->memory.program + step->params_offset);
}

/* Whether the steps that a list of the engine overlaps exist and leave the engine alone. */
KIWICHA_SMALL static bool is_overlap_possible(const struct kiwicha_model *model, uint32_t step)
{
#if KIWICHA_CONFIG_ENGINE_MACS
    if (kiwicha_starts_list(model->steps[step].kernel)) {
        const struct kiwicha_engine_call *call =
            (const void *)(model->memory.program + model->steps[step].params_offset);
        if (call->overlapped_steps >= model->step_count - step) {
            return false;
        }
        for (uint32_t k = 1; k <= call->overlapped_steps; k++) {
            if (kiwicha_starts_list(model->steps[step + k].kernel)) {
                return false;
            }
        }
    }
#else
    (void)model;
    (void)step;
#endif
    return true;
}

KIWICHA_SMALL static enum kiwicha_status check_arguments(const void *program,
                                                         uint32_t program_bytes, const void *arena,
                                                         uint32_t arena_bytes)
{
    if (program == NULL || !is_aligned(program) || !is_aligned(arena)) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    if ((arena == NULL && arena_bytes != 0) ||
        overlap(program, program_bytes, arena, arena_bytes)) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    /* Too short to say what it is. */
    return program_bytes < sizeof(struct kiwicha_program_header) ? KIWICHA_STATUS_BAD_MAGIC
                                                                 : KIWICHA_STATUS_OK;
}

KIWICHA_SMALL void kiwicha_open_checked(struct kiwicha_model *model, const void *program,
                                        void *arena)
{
#if KIWICHA_CONFIG_RESIDENT_WORDS
    kiwicha_forget_weights();
#endif
    const struct kiwicha_program_header *header = program;
    const uint8_t *bytes = program;
    *model = (struct kiwicha_model){
        .memory = {bytes, header->constants_offset,
                   header->constants_offset + header->constants_bytes, arena,
                   header->arena_bytes - (header->state_count != 0 ? 0 : header->shift_bytes)},
        .arena = arena,
        .next_arena = arena,
        .last_arena = arena,
        .shift_bytes = header->shift_bytes,
        .steps = (const void *)(bytes + header->steps_offset),
        .inputs = (const void *)(bytes + header->inputs_offset),
        .outputs = (const void *)(bytes + header->outputs_offset),
        .states = (const void *)(bytes + header->states_offset),
        .step_count = header->step_count,
        .input_count = header->input_count,
        .output_count = header->output_count,
        .state_count = header->state_count,
        .failed_step = header->step_count,
    };
}

KIWICHA_SMALL enum kiwicha_status kiwicha_open(struct kiwicha_model *model, const void *program,
                                               uint32_t program_bytes, void *arena,
                                               uint32_t arena_bytes)
{
    if (model == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    *model = (struct kiwicha_model){0};
    enum kiwicha_status status = check_arguments(program, program_bytes, arena, arena_bytes);
#if KIWICHA_CONFIG_HAS_SIMD
    if (status == KIWICHA_STATUS_OK && kiwicha_cfu_config_hash() != KIWICHA_CONFIG_HASH) {
        return KIWICHA_STATUS_CFU_MISMATCH;
    }
#endif
    const struct kiwicha_program_header *header = program;
    if (status == KIWICHA_STATUS_OK) {
        status = check_header(header, program_bytes);
    }
    if (status == KIWICHA_STATUS_OK && header->arena_bytes > arena_bytes) {
        status = KIWICHA_STATUS_ARENA_TOO_SMALL;
    }
    if (status != KIWICHA_STATUS_OK) {
        return status;
    }
    struct kiwicha_model opened;
    kiwicha_open_checked(&opened, program, arena);
    status = check_layers(header);
    if (status == KIWICHA_STATUS_OK) {
        status = check_tensors(&opened, header, opened.inputs, opened.input_count);
    }
    if (status == KIWICHA_STATUS_OK) {
        status = check_tensors(&opened, header, opened.outputs, opened.output_count);
    }
    if (status == KIWICHA_STATUS_OK) {
        status = check_states(&opened);
    }
    for (uint32_t k = 0; k < opened.step_count && status == KIWICHA_STATUS_OK; k++) {
        status = check_step(&opened, header, &opened.steps[k]);
        if (status == KIWICHA_STATUS_OK && !is_overlap_possible(&opened, k)) {
            status = KIWICHA_STATUS_BAD_PARAMETERS;
        }
        if (status != KIWICHA_STATUS_OK) {
            model->failed_step = k;
        }
    }
    if (status == KIWICHA_STATUS_OK) {
        *model = opened;
        status = kiwicha_reset(model);
    }
    return status;
}
