#include "power_up.h"

#include <stdbool.h>
#include <string.h>

#include "../kernels/cfu.h"
#include "../selftest/instructions.h"
#include "../selftest/memory.h"
#include "kiwicha_isa.h"
#include "kiwicha_power_up.h"
#include "machine.h"

/* Of memory: long enough for every line of the port, short enough not to be noticed. */
#define PATTERN_BYTES 1024u

static bool are_equal(const volatile void *some, const void *other, uint32_t bytes)
{
    const volatile uint8_t *got = some;
    const uint8_t *expected = other;
    uint32_t at = 0;
    while (at < bytes && got[at] == expected[at]) {
        ++at;
    }
    return at == bytes;
}

static bool is_memory_good(uint32_t scratch)
{
    static const uint32_t checks[] = {
        KIWICHA_SELF_TEST_CHECK_DATA_LINES,
        KIWICHA_SELF_TEST_CHECK_ADDRESSES,
        KIWICHA_SELF_TEST_CHECK_PATTERN,
    };
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < sizeof checks / sizeof checks[0]; ++k) {
        struct kiwicha_self_test test = {
            .check = checks[k],
            .first = scratch,
            .bytes = PATTERN_BYTES,
        };
        kiwicha_check_memory(&test);
        wrong |= test.wrong;
    }
    return wrong == 0;
}

#if KIWICHA_POWER_UP_INSTRUCTIONS
static bool are_instructions_good(void)
{
    static uint32_t answers[KIWICHA_POWER_UP_INSTRUCTIONS];
    kiwicha_execute_instructions((uint32_t)(uintptr_t)kiwicha_power_up_instructions,
                                 KIWICHA_POWER_UP_INSTRUCTIONS, (uint32_t)(uintptr_t)answers);
    const uint32_t first = KIWICHA_POWER_UP_FIRST_ANSWER;
    return are_equal(&answers[first], &kiwicha_power_up_answers[first],
                     (KIWICHA_POWER_UP_INSTRUCTIONS - first) * (uint32_t)sizeof answers[0]);
}
#endif

#if KIWICHA_POWER_UP_HAS_LIST

enum range { RANGE_PROGRAM, RANGE_ARENA };
#define WATCHDOG_CYCLES 100000u

#define ENGINE_DO(op, index, a, b)                                                                 \
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_##op, index, a, b)

static bool is_engine_good(uint32_t scratch, uint32_t bytes)
{
    const uint32_t line = KIWICHA_CACHE_LINE_BYTES;
    const uint32_t image_bytes = (KIWICHA_POWER_UP_IMAGE_BYTES + line - 1) / line * line;
    uint8_t *image = (uint8_t *)(uintptr_t)scratch;
    uint8_t *arena = image + image_bytes;
    if (image_bytes + KIWICHA_POWER_UP_ARENA_BYTES > bytes) {
        return false;
    }
    memcpy(image, kiwicha_power_up_image, KIWICHA_POWER_UP_IMAGE_BYTES);
    memset(arena, 0, KIWICHA_POWER_UP_ARENA_BYTES);
    memcpy(arena + KIWICHA_POWER_UP_INPUT_OFFSET, kiwicha_power_up_input,
           KIWICHA_POWER_UP_INPUT_BYTES);
    kiwicha_platform_drain_stores();
    ENGINE_DO(RANGE, RANGE_PROGRAM, (uint32_t)(uintptr_t)image, KIWICHA_POWER_UP_IMAGE_BYTES);
    ENGINE_DO(RANGE, RANGE_ARENA, (uint32_t)(uintptr_t)arena, KIWICHA_POWER_UP_ARENA_BYTES);
    ENGINE_DO(WATCHDOG, 0, WATCHDOG_CYCLES, 0);
    ENGINE_DO(START, 0, 0, KIWICHA_POWER_UP_LIST);
    const uint32_t status = kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_WAIT, 0, 0, 0);
    kiwicha_platform_forget_cached();
    return status == 0 && are_equal(arena + KIWICHA_POWER_UP_OUTPUT_OFFSET, kiwicha_power_up_output,
                                    KIWICHA_POWER_UP_OUTPUT_BYTES);
}

#endif

static void say(const char *part, bool is_good)
{
    kiwicha_platform_print(part);
    kiwicha_platform_print(is_good ? " ok" : " FAILED");
}

void kiwicha_power_up_test(uint32_t scratch, uint32_t bytes)
{
    say("kiwicha: memory", bytes >= PATTERN_BYTES && is_memory_good(scratch));
#if KIWICHA_POWER_UP_INSTRUCTIONS
    kiwicha_platform_enable_cfu();
    say(", instructions", are_instructions_good());
#endif
#if KIWICHA_POWER_UP_HAS_LIST
    say(", engine", is_engine_good(scratch, bytes));
#endif
    kiwicha_platform_print("\n");
}
