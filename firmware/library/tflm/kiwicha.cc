/* An operator of TensorFlow Lite Micro: its first input is a Program, the others are those of the
 * Program. */
#include "kiwicha.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "../runtime/runtime.h"
#include "tensorflow/lite/micro/kernels/kernel_util.h"
#include "tensorflow/lite/micro/memory_helpers.h"
#include "tensorflow/lite/micro/micro_log.h"

namespace tflite
{
namespace
{

constexpr const char *kName = "KIWICHA";
constexpr int kProgram = 0;
/* What TensorFlow Lite Micro aligns buffers to is less than a cache line. */
constexpr uint32_t kSpareBytes = KIWICHA_CACHE_LINE_BYTES;

struct Work {
    kiwicha_model model;
    const void *program;
    uint32_t program_bytes;
    uint32_t arena_bytes;
    uint8_t *own_arena; /* of a Program with states; else null */
    int scratch;        /* index of the buffer; without states */
    uint8_t *arena;     /* where the model was opened; null before */
};

TfLiteStatus Said(kiwicha_status status)
{
    if (status == KIWICHA_STATUS_OK) {
        return kTfLiteOk;
    }
    MicroPrintf("%s: %s", kName, kiwicha_status_text(status));
    return kTfLiteError;
}

/** Opens the Program, once: every byte of it that matters is checked. */
TfLiteStatus Open(Work *work, uint8_t *buffer)
{
    const uintptr_t ahead = -reinterpret_cast<uintptr_t>(buffer) % KIWICHA_CACHE_LINE_BYTES;
    uint8_t *arena = buffer + ahead;
    if (arena == work->arena) {
        return kTfLiteOk;
    }
    work->arena = nullptr;
    TF_LITE_ENSURE_STATUS(Said(
        kiwicha_open(&work->model, work->program, work->program_bytes, arena, work->arena_bytes)));
    work->arena = arena;
    return kTfLiteOk;
}

void *Init(TfLiteContext *context, const char *, size_t)
{
    void *place = context->AllocatePersistentBuffer(context, sizeof(Work));
    return place == nullptr ? nullptr : new (place) Work();
}

TfLiteStatus Prepare(TfLiteContext *context, TfLiteNode *node)
{
    auto *work = static_cast<Work *>(node->user_data);
    if (work == nullptr || node->inputs->size < 1) {
        MicroPrintf("%s: the operator must have a Program and room in the arena", kName);
        return kTfLiteError;
    }
    const TfLiteEvalTensor *stored = micro::GetEvalInput(context, node, kProgram);
    size_t bytes = 0;
    TF_LITE_ENSURE_STATUS(TfLiteEvalTensorByteLength(stored, &bytes));
    const auto *header = static_cast<const kiwicha_program_header *>(stored->data.data);
    if (header == nullptr || bytes < sizeof(*header) || bytes > UINT32_MAX) {
        return Said(KIWICHA_STATUS_BAD_BOUNDS);
    }
    if (reinterpret_cast<uintptr_t>(header) % KIWICHA_ALIGNMENT_BYTES != 0) {
        MicroPrintf("%s: the model must lie at a multiple of %d bytes: declare it alignas(%d)",
                    kName, KIWICHA_ALIGNMENT_BYTES, KIWICHA_ALIGNMENT_BYTES);
        return kTfLiteError;
    }
    if (header->magic != KIWICHA_PROGRAM_MAGIC) {
        return Said(KIWICHA_STATUS_BAD_MAGIC);
    }
    if (header->version != KIWICHA_PROGRAM_VERSION) {
        return Said(KIWICHA_STATUS_BAD_VERSION);
    }
    if (header->input_count != static_cast<uint32_t>(node->inputs->size - 1) ||
        header->output_count != static_cast<uint32_t>(node->outputs->size) ||
        header->arena_bytes > UINT32_MAX - kSpareBytes) {
        return Said(KIWICHA_STATUS_BAD_PARAMETERS);
    }
    work->program = header;
    work->program_bytes = static_cast<uint32_t>(bytes);
    work->arena_bytes = header->arena_bytes;
    const size_t space = static_cast<size_t>(work->arena_bytes) + kSpareBytes;
    if (header->state_count == 0) {
        return context->RequestScratchBufferInArena(context, space, &work->scratch);
    }
    work->own_arena = static_cast<uint8_t *>(context->AllocatePersistentBuffer(context, space));
    if (work->own_arena == nullptr) {
        return Said(KIWICHA_STATUS_ARENA_TOO_SMALL);
    }
    return Open(work, work->own_arena);
}

/** Returns whether a tensor has as many bytes as the Program's. */
bool IsOfSize(const TfLiteEvalTensor *tensor, const kiwicha_io_record *record)
{
    size_t bytes = 0;
    return TfLiteEvalTensorByteLength(tensor, &bytes) == kTfLiteOk && bytes == record->tensor.bytes;
}

TfLiteStatus Invoke(TfLiteContext *context, TfLiteNode *node)
{
    auto *work = static_cast<Work *>(node->user_data);
    kiwicha_model *model = &work->model;
    uint8_t *buffer = work->own_arena;
    if (buffer == nullptr) {
        buffer = static_cast<uint8_t *>(context->GetScratchBuffer(context, work->scratch));
    }
    TF_LITE_ENSURE_STATUS(Open(work, buffer));
    for (uint32_t k = 0; k < model->input_count; ++k) {
        const kiwicha_io_record *record = &model->inputs[k];
        const TfLiteEvalTensor *tensor =
            micro::GetEvalInput(context, node, static_cast<int>(k) + kProgram + 1);
        if (!IsOfSize(tensor, record)) {
            return Said(KIWICHA_STATUS_BAD_PARAMETERS);
        }
        std::memcpy(kiwicha_tensor_data(model, record), tensor->data.data, record->tensor.bytes);
    }
    TF_LITE_ENSURE_STATUS(Said(kiwicha_invoke(model, nullptr, nullptr, nullptr)));
    for (uint32_t k = 0; k < model->output_count; ++k) {
        const kiwicha_io_record *record = &model->outputs[k];
        TfLiteEvalTensor *tensor = micro::GetEvalOutput(context, node, static_cast<int>(k));
        if (!IsOfSize(tensor, record)) {
            return Said(KIWICHA_STATUS_BAD_PARAMETERS);
        }
        std::memcpy(tensor->data.data, kiwicha_tensor_data(model, record), record->tensor.bytes);
    }
    return kTfLiteOk;
}

void Free(TfLiteContext *, void *place)
{
    if (place != nullptr) {
        kiwicha_close(&static_cast<Work *>(place)->model);
    }
}

void Reset(TfLiteContext *, void *place)
{
    auto *work = static_cast<Work *>(place);
    /* Scratch has no states, and is not the Program's between inferences. */
    if (work != nullptr && work->own_arena != nullptr && work->arena != nullptr) {
        Said(kiwicha_reset(&work->model));
    }
}

} // namespace

TFLMRegistration *Register_KIWICHA()
{
    static TFLMRegistration registration = micro::RegisterOp(Init, Prepare, Invoke, Free, Reset);
    return &registration;
}

const char *GetString_KIWICHA()
{
    return kName;
}

} // namespace tflite
