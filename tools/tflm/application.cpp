/* An application of TensorFlow Lite Micro: MODEL INPUTS OUTPUTS. Inputs of all inferences lie one
 * after the other. Without KIWICHA_OPERATOR its models are TensorFlow Lite Micro's alone. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"
#ifdef KIWICHA_OPERATOR
#include "tflm/kiwicha.h"
#endif

namespace {

alignas(16) uint8_t arena[64 << 20];

std::vector<uint8_t> contents(const char* path) {
    std::vector<uint8_t> bytes;
    if (std::FILE* file = std::fopen(path, "rb")) {
        uint8_t part[4096];
        for (size_t count; (count = std::fread(part, 1, sizeof part, file)) != 0;) {
            bytes.insert(bytes.end(), part, part + count);
        }
        std::fclose(file);
    }
    return bytes;
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        return 2;
    }
    const std::vector<uint8_t> stored = contents(words[1]);
    const std::vector<uint8_t> inputs = contents(words[2]);
    std::vector<uint8_t> space(stored.size() + 16);
    uint8_t* raw = space.data() + -reinterpret_cast<uintptr_t>(space.data()) % 16;
    std::memcpy(raw, stored.data(), stored.size());

    tflite::MicroMutableOpResolver<48> resolver;
    resolver.AddAdd();
    resolver.AddAveragePool2D();
    resolver.AddAssignVariable();
    resolver.AddCallOnce();
    resolver.AddConcatenation();
    resolver.AddConv2D();
    resolver.AddDepthwiseConv2D();
    resolver.AddDequantize();
    resolver.AddDetectionPostprocess();
    resolver.AddFullyConnected();
    resolver.AddLogistic();
    resolver.AddMaxPool2D();
    resolver.AddMean();
    resolver.AddMul();
    resolver.AddPack();
    resolver.AddPad();
    resolver.AddQuantize();
    resolver.AddReadVariable();
    resolver.AddRelu();
    resolver.AddReshape();
    resolver.AddResizeBilinear();
    resolver.AddResizeNearestNeighbor();
    resolver.AddShape();
    resolver.AddSin();
    resolver.AddSoftmax();
    resolver.AddSplit();
    resolver.AddSplitV();
    resolver.AddStridedSlice();
    resolver.AddSub();
    resolver.AddSvdf();
    resolver.AddTanh();
    resolver.AddTranspose();
    resolver.AddUnidirectionalSequenceLSTM();
    resolver.AddVarHandle();
#ifdef KIWICHA_OPERATOR
    resolver.AddCustom(tflite::GetString_KIWICHA(), tflite::Register_KIWICHA());
#endif

    tflite::MicroResourceVariables* variables = nullptr;
    tflite::MicroAllocator* allocator = tflite::MicroAllocator::Create(arena, sizeof arena);
    variables = tflite::MicroResourceVariables::Create(allocator, 24);
    tflite::MicroInterpreter interpreter(tflite::GetModel(raw), resolver, allocator, variables);
    if (interpreter.AllocateTensors() != kTfLiteOk) {
        return 3;
    }
    std::FILE* results = std::fopen(words[3], "wb");
    size_t place = 0;
    while (place < inputs.size()) {
        for (size_t k = 0; k < interpreter.inputs_size(); ++k) {
            TfLiteTensor* input = interpreter.input(k);
            if (inputs.size() - place < input->bytes) {
                return 4;
            }
            std::memcpy(input->data.raw, inputs.data() + place, input->bytes);
            place += input->bytes;
        }
        if (interpreter.Invoke() != kTfLiteOk) {
            return 5;
        }
        for (size_t k = 0; k < interpreter.outputs_size(); ++k) {
            const TfLiteTensor* output = interpreter.output(k);
            std::fwrite(output->data.raw, 1, output->bytes, results);
        }
    }
    std::printf("%zu\n", interpreter.arena_used_bytes());
    return std::fclose(results) == 0 ? 0 : 6;
}
