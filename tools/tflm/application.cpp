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

    tflite::MicroMutableOpResolver<96> resolver;
    resolver.AddAbs();
    resolver.AddAdd();
    resolver.AddArgMax();
    resolver.AddArgMin();
    resolver.AddAssignVariable();
    resolver.AddAveragePool2D();
    resolver.AddBatchMatMul();
    resolver.AddBatchToSpaceNd();
    resolver.AddBroadcastTo();
    resolver.AddCallOnce();
    resolver.AddCast();
    resolver.AddConcatenation();
    resolver.AddConv2D();
    resolver.AddCumSum();
    resolver.AddDelay();
    resolver.AddDepthToSpace();
    resolver.AddDepthwiseConv2D();
    resolver.AddDequantize();
    resolver.AddDetectionPostprocess();
    resolver.AddDiv();
    resolver.AddElu();
    resolver.AddEnergy();
    resolver.AddEqual();
    resolver.AddExp();
    resolver.AddExpandDims();
    resolver.AddFftAutoScale();
    resolver.AddFilterBank();
    resolver.AddFilterBankLog();
    resolver.AddFilterBankSpectralSubtraction();
    resolver.AddFilterBankSquareRoot();
    resolver.AddFloor();
    resolver.AddFloorDiv();
    resolver.AddFramer();
    resolver.AddFullyConnected();
    resolver.AddGather();
    resolver.AddGatherNd();
    resolver.AddGreater();
    resolver.AddHardSwish();
    resolver.AddL2Normalization();
    resolver.AddLeakyRelu();
    resolver.AddLess();
    resolver.AddLogSoftmax();
    resolver.AddLogistic();
    resolver.AddMaxPool2D();
    resolver.AddMaximum();
    resolver.AddMean();
    resolver.AddMinimum();
    resolver.AddMirrorPad();
    resolver.AddMul();
    resolver.AddNeg();
    resolver.AddPCAN();
    resolver.AddPack();
    resolver.AddPad();
    resolver.AddPadV2();
    resolver.AddPrelu();
    resolver.AddQuantize();
    resolver.AddReadVariable();
    resolver.AddReduceMax();
    resolver.AddRelu();
    resolver.AddRelu6();
    resolver.AddReshape();
    resolver.AddResizeBilinear();
    resolver.AddResizeNearestNeighbor();
    resolver.AddRfft();
    resolver.AddRsqrt();
    resolver.AddSelectV2();
    resolver.AddShape();
    resolver.AddSin();
    resolver.AddSlice();
    resolver.AddSoftmax();
    resolver.AddSpaceToBatchNd();
    resolver.AddSpaceToDepth();
    resolver.AddSplit();
    resolver.AddSplitV();
    resolver.AddSquaredDifference();
    resolver.AddSqueeze();
    resolver.AddStacker();
    resolver.AddStridedSlice();
    resolver.AddSub();
    resolver.AddSum();
    resolver.AddSvdf();
    resolver.AddTanh();
    resolver.AddTranspose();
    resolver.AddTransposeConv();
    resolver.AddUnidirectionalSequenceLSTM();
    resolver.AddUnpack();
    resolver.AddVarHandle();
    resolver.AddWindow();
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
