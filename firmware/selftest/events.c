#include "events.h"

#if KIWICHA_CONFIG_IS_PREEMPTIBLE

#include "../kernels/cfu.h"
#include "instructions.h"
#include "interrupts.h"
#include "kiwicha_soc.h"
#include "machine.h"

static volatile uint32_t ticks;
static volatile uint32_t ticked_at;

static void on_timer(void)
{
    ++ticks;
    ticked_at = kiwicha_platform_cycles();
}

/* Whether the engine's interrupt waits to be taken. */
static uint32_t engine_waits(void)
{
    uint32_t pending;
    /* VexRiscv: which interrupts wait. */
    __asm__ volatile("csrr %0, 0xfc0" : "=r"(pending));
    return pending >> KIWICHA_INTERRUPT_ENGINE_EVENTS & 1u;
}

static void check_timer(struct kiwicha_self_test_interrupts *found)
{
    const uint32_t start = kiwicha_platform_cycles();
    kiwicha_platform_set_timer(KIWICHA_SELF_TEST_TIMER_CYCLES, 0);
    while (ticks == 0 && kiwicha_platform_cycles() - start < KIWICHA_SELF_TEST_WAIT_CYCLES) {
    }
    found->timer_cycles = (ticks == 0 ? kiwicha_platform_cycles() : ticked_at) - start;
    /* As long again: once is once. */
    const uint32_t again = kiwicha_platform_cycles();
    while (kiwicha_platform_cycles() - again < 2 * KIWICHA_SELF_TEST_TIMER_CYCLES) {
    }
    found->timer_interrupts = ticks;
}

static void check_engine(const struct kiwicha_self_test *test,
                         struct kiwicha_self_test_interrupts *found)
{
    /* Answers go where results will be. */
    const uint32_t answers = test->answers + (uint32_t)sizeof(struct kiwicha_self_test_interrupts);
    kiwicha_platform_mask_interrupts();
    found->engine_before = engine_waits();
    kiwicha_execute_instructions(test->first, test->count, answers);
    const uint32_t start = kiwicha_platform_cycles();
    if (found->timer_interrupts != 0) {
        /* The timer wakes the CPU if nothing else does. */
        kiwicha_platform_set_timer(KIWICHA_SELF_TEST_WAIT_CYCLES, 0);
        kiwicha_platform_sleep();
    } else {
        while (engine_waits() == 0 &&
               kiwicha_platform_cycles() - start < KIWICHA_SELF_TEST_WAIT_CYCLES) {
        }
    }
    found->engine_cycles = kiwicha_platform_cycles() - start;
    found->engine_waits = engine_waits();
    kiwicha_platform_unmask_interrupts();
    found->engine_after = engine_waits();
    found->list_status = kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_WAIT, 0, 0, 0);
}

void kiwicha_check_interrupts(const struct kiwicha_self_test *test)
{
    struct kiwicha_self_test_interrupts found = {0};
    kiwicha_platform_enable_interrupts(on_timer);
    check_timer(&found);
    check_engine(test, &found);
    kiwicha_platform_mask_interrupts();
    *(volatile struct kiwicha_self_test_interrupts *)(uintptr_t)test->answers = found;
}

#endif
