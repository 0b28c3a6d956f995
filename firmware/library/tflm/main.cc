/* An application of TensorFlow Lite Micro: runs the model on inputs that mean nothing, and prints
 * what comes out. But for one line it is what it is without Kiwicha. */
#include <cstddef>
#include <cstdint>

#include "kiwicha_isa.h"
#include "model/sample.h"
#include "runtime/platform.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_log.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tflm/kiwicha.h"

namespace
{

constexpr size_t kPrintedBytes = 16;

alignas(KIWICHA_CACHE_LINE_BYTES) uint8_t arena[SAMPLE_ARENA_BYTES];

void WriteInput(TfLiteTensor *input)
{
    for (size_t k = 0; k < input->bytes; k++) {
        input->data.uint8[k] = input->type == kTfLiteFloat32 ? 0 : static_cast<uint8_t>(7 * k);
    }
}

void PrintOutput(const TfLiteTensor *output)
{
    uint32_t sum = 0;
    for (size_t k = 0; k < output->bytes; k++) {
        sum += output->data.uint8[k];
        if (k < kPrintedBytes) {
            MicroPrintf("byte %d: %d", static_cast<int>(k), output->data.uint8[k]);
        }
    }
    MicroPrintf("sum of %d bytes: %d", static_cast<int>(output->bytes), static_cast<int>(sum));
}

TfLiteStatus Run()
{
    tflite::MicroMutableOpResolver<SAMPLE_OPERATORS> resolver;
    TF_LITE_ENSURE_STATUS(
        resolver.AddCustom(tflite::GetString_KIWICHA(), tflite::Register_KIWICHA()));
    SAMPLE_ADD_OTHER_OPERATORS(resolver);
    tflite::MicroInterpreter interpreter(tflite::GetModel(sample_tflite), resolver, arena,
                                         sizeof(arena));
    TF_LITE_ENSURE_STATUS(interpreter.AllocateTensors());
    for (size_t k = 0; k < interpreter.inputs_size(); k++) {
        WriteInput(interpreter.input(k));
    }
    TF_LITE_ENSURE_STATUS(interpreter.Invoke());
    for (size_t k = 0; k < interpreter.outputs_size(); k++) {
        PrintOutput(interpreter.output(k));
    }
    MicroPrintf("arena: %d bytes of %d", static_cast<int>(interpreter.arena_used_bytes()),
                static_cast<int>(sizeof(arena)));
    return kTfLiteOk;
}

} // namespace

int main()
{
    kiwicha_platform_enable_cfu();
    return Run() == kTfLiteOk ? 0 : 1;
}
