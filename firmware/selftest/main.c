/* Makes the check that a host has written to DRAM, and ends. */

#include <stdint.h>

#include "instructions.h"
#include "kiwicha_isa.h"
#include "machine.h"
#include "memory.h"
#include "platform.h"

#if KIWICHA_CONFIG_IS_PREEMPTIBLE
#include "events.h"
#define LAST_CHECK KIWICHA_SELF_TEST_CHECK_INTERRUPTS
#else
#define LAST_CHECK KIWICHA_SELF_TEST_CHECK_INSTRUCTIONS
#endif

int main(void);

int main(void)
{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    volatile struct kiwicha_self_test *asked =
        (volatile struct kiwicha_self_test *)(uintptr_t)KIWICHA_SELF_TEST_ADDRESS;
    if (asked->magic != KIWICHA_SELF_TEST_MAGIC ||
        asked->check < KIWICHA_SELF_TEST_CHECK_DATA_LINES || asked->check > LAST_CHECK) {
        return KIWICHA_STATUS_BAD_BOOT_BLOCK;
    }
    /* In on-chip memory while the DRAM is tested: that may be what does not work. */
    struct kiwicha_self_test test = *asked;
    if (test.check == KIWICHA_SELF_TEST_CHECK_INSTRUCTIONS) {
        kiwicha_execute_instructions(test.first, test.count, test.answers);
#if KIWICHA_CONFIG_IS_PREEMPTIBLE
    } else if (test.check == KIWICHA_SELF_TEST_CHECK_INTERRUPTS) {
        kiwicha_check_interrupts(&test);
#endif
    } else {
        kiwicha_check_memory(&test);
    }
    test.is_done = 1;
    *asked = test;
    kiwicha_platform_drain_stores();
    return KIWICHA_STATUS_OK;
}
