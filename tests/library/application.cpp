// An application in C++17 with two models: in one arena and in two, in turn and refused.
#include <stddef.h>
#include <stdint.h>

#include "model/first.h"
#include "model/second.h"
#include "runtime/platform.h"
#include "runtime/runtime.h"

namespace {

constexpr uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

alignas(KIWICHA_CACHE_LINE_BYTES) uint8_t shared[larger(FIRST_ARENA_BYTES, SECOND_ARENA_BYTES)];
alignas(KIWICHA_CACHE_LINE_BYTES) uint8_t own[SECOND_ARENA_BYTES];

void print(const char* text) { kiwicha_platform_print(text); }

void print(uint32_t value) {
    char digits[11] = {};
    size_t at = sizeof(digits) - 1;
    do {
        digits[--at] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value > 0);
    print(&digits[at]);
}

class Model {
   public:
    template <size_t arena_bytes>
    Model(const uint8_t* program, uint32_t bytes, uint8_t (&arena)[arena_bytes])
        : status_{kiwicha_open(&model_, program, bytes, arena, arena_bytes)} {}
    ~Model() { kiwicha_close(&model_); }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    kiwicha_model* get() { return &model_; }
    kiwicha_status status() const { return status_; }

    void write_inputs() {
        for (uint32_t k = 0; k < model_.input_count; ++k) {
            auto* bytes = static_cast<uint8_t*>(kiwicha_tensor_data(&model_, &model_.inputs[k]));
            for (uint32_t at = 0; at < model_.inputs[k].tensor.bytes; ++at) {
                bytes[at] = static_cast<uint8_t>(7 * at);
            }
        }
    }

    void run(void (*on_step)(void*, uint32_t) = nullptr, void* context = nullptr) {
        write_inputs();
        status_ = kiwicha_invoke(&model_, nullptr, on_step, context);
    }

    void report(const char* what) const {
        const kiwicha_io_record& output = model_.outputs[0];
        const auto* bytes = static_cast<const uint8_t*>(kiwicha_tensor_data(&model_, &output));
        uint32_t sum = 0;
        for (uint32_t k = 0; k < output.tensor.bytes; ++k) {
            sum += (k + 1) * bytes[k];
        }
        print(what);
        print(status_ == KIWICHA_STATUS_OK ? ": " : kiwicha_status_text(status_));
        print(sum);
        print("\n");
    }

   private:
    kiwicha_model model_{};
    kiwicha_status status_;
};

/* Tries to start a model while another one runs. */
struct Intruder {
    Model& model;
    kiwicha_status status = KIWICHA_STATUS_OK;

    static void try_it(void* context, uint32_t) {
        auto* self = static_cast<Intruder*>(context);
        self->status = kiwicha_start(self->model.get(), nullptr, nullptr, nullptr);
    }
};

void run_models() {
    Model first{first_program, FIRST_PROGRAM_BYTES, shared};
    Model second{second_program, SECOND_PROGRAM_BYTES, shared};
    Model third{second_program, SECOND_PROGRAM_BYTES, own};
    first.run();
    first.report("first in the shared arena");
    second.run();
    second.report("second in the shared arena");

    Intruder intruder{third};
    first.run(Intruder::try_it, &intruder);
    first.report("first again");
    print("third meanwhile: ");
    print(kiwicha_status_text(intruder.status));
    print("\n");
    third.run();
    third.report("third in its own arena");
    first.report("first, still there");

    /* Whoever closes a model that runs waits for it: afterwards another one can start. */
    {
        Model gone{first_program, FIRST_PROGRAM_BYTES, shared};
        gone.write_inputs();
        (void)kiwicha_start(gone.get(), nullptr, nullptr, nullptr);
    }
    third.run();
    third.report("third after a model was closed");

    uint8_t (&half)[SECOND_ARENA_BYTES / 2] =
        reinterpret_cast<uint8_t (&)[SECOND_ARENA_BYTES / 2]>(own);
    const Model cramped{second_program, SECOND_PROGRAM_BYTES, half};
    print(kiwicha_status_text(cramped.status()));
    print("\n");
}

}  // namespace

#if !__STDC_HOSTED__
extern "C" int main();
#endif

int main() {
    kiwicha_platform_enable_cfu();
    run_models();
    print(kiwicha_status_text(static_cast<kiwicha_status>(99)));
    print("\n");
    return 0;
}
