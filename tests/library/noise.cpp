// A model while the CPU does nothing else, and while it reads and writes DRAM all the time.
#include <stdint.h>

#include "model/person.h"
#include "runtime/platform.h"
#include "runtime/runtime.h"

namespace {

constexpr uint32_t line_bytes = KIWICHA_CACHE_LINE_BYTES;
constexpr uint32_t inferences = 4;
constexpr uint32_t lines_between_looks = 8;

alignas(line_bytes) uint8_t arena[PERSON_ARENA_BYTES];
alignas(line_bytes) volatile uint32_t noise[4 * KIWICHA_DATA_CACHE_BYTES];

void print(uint32_t value) {
    for (int shift = 28; shift >= 0; shift -= 4) {
        const char text[] = {"0123456789abcdef"[value >> shift & 15], '\0'};
        kiwicha_platform_print(text);
    }
    kiwicha_platform_print("\n");
}

/* Reads and writes lines that are not in the cache. */
void make_noise() {
    static uint32_t at;
    for (uint32_t k = 0; k < lines_between_looks; ++k) {
        noise[at] = noise[at] + 1;
        at = (at + line_bytes / sizeof(noise[0])) % (sizeof(noise) / sizeof(noise[0]));
    }
}

int run() {
    static kiwicha_model model;
    if (kiwicha_open(&model, person_program, PERSON_PROGRAM_BYTES, arena, sizeof(arena)) !=
        KIWICHA_STATUS_OK) {
        return 1;
    }
    uint32_t start = kiwicha_platform_cycles();
    for (uint32_t k = 0; k < inferences; ++k) {
        if (kiwicha_invoke(&model, nullptr, nullptr, nullptr) != KIWICHA_STATUS_OK) {
            return 2;
        }
    }
    print(model.cycles);
    print((kiwicha_platform_cycles() - start) / inferences);
    start = kiwicha_platform_cycles();
    kiwicha_status status = kiwicha_start(&model, nullptr, nullptr, nullptr);
    while (model.is_running) {
        make_noise();
        status = kiwicha_poll(&model);
    }
    print(kiwicha_platform_cycles() - start);
    return status == KIWICHA_STATUS_OK ? 0 : 3;
}

}  // namespace

#if !__STDC_HOSTED__
extern "C" int main();
#endif

int main() {
    kiwicha_platform_enable_cfu();
    return run();
}
