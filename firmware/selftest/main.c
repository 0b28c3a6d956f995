/* Makes the check that a host has written to DRAM, and ends. */

#include <stdint.h>

#include "instructions.h"
#include "kiwicha_isa.h"
#include "machine.h"
#include "memory.h"
#include "platform.h"

int main(void);

int main(void)
{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    volatile struct kiwicha_self_test *asked =
        (volatile struct kiwicha_self_test *)(uintptr_t)KIWICHA_SELF_TEST_ADDRESS;
    if (asked->magic != KIWICHA_SELF_TEST_MAGIC ||
        asked->check < KIWICHA_SELF_TEST_CHECK_DATA_LINES ||
        asked->check > KIWICHA_SELF_TEST_CHECK_INSTRUCTIONS) {
        return KIWICHA_STATUS_BAD_BOOT_BLOCK;
    }
    /* In on-chip memory while the DRAM is tested: that may be what does not work. */
    struct kiwicha_self_test test = *asked;
    if (test.check == KIWICHA_SELF_TEST_CHECK_INSTRUCTIONS) {
        kiwicha_execute_instructions(test.first, test.count, test.answers);
    } else {
        kiwicha_check_memory(&test);
    }
    test.is_done = 1;
    *asked = test;
    kiwicha_platform_drain_stores();
    return KIWICHA_STATUS_OK;
}
