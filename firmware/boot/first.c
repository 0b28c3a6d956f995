/* The first program after configuration, in on-chip memory: makes DRAM usable, says what works, and
 * starts the loader there, which is part of this image. */

#include <stdint.h>
#include <string.h>

#include "kiwicha_isa.h"
#include "kiwicha_loader.h"
#include "kiwicha_soc.h"
#include "machine.h"
#include "power_up.h"

/* LiteX's, whose own headers are not C11. Both return 0 on failure. */
int sdram_init(void);
int memtest(unsigned int *address, unsigned long bytes);
void flush_l2_cache(void);

void flush_l2_cache(void)
{
    /* LiteX's test asks for it even where, as here, there is none. */
}

/* Enough to go through every bank, and short enough not to be noticed. */
#define TESTED_BYTES (64u * 1024u)

static void prepare_memory(void)
{
#if KIWICHA_HAS_CALIBRATION
    /* A board whose memory fails says so for ever: a host may come later. */
    while (sdram_init() == 0 ||
           memtest((unsigned int *)(uintptr_t)KIWICHA_DRAM_BASE, TESTED_BYTES) == 0) {
        kiwicha_platform_print("kiwicha: the memory test failed\n");
    }
#else
    kiwicha_platform_init_dram();
#endif
}

int main(void);

int main(void)
{
    prepare_memory();
    memcpy((void *)(uintptr_t)KIWICHA_LOADER_ADDRESS, kiwicha_loader, sizeof kiwicha_loader);
    /* Behind the loader, where it will have its stack: Programs in DRAM stay as they are. The
     * loader is there before, for a trap goes to it. */
    const uint32_t line = KIWICHA_CACHE_LINE_BYTES;
    const uint32_t taken = ((uint32_t)sizeof kiwicha_loader + line - 1) / line * line;
    kiwicha_power_up_test(KIWICHA_LOADER_ADDRESS + taken, KIWICHA_LOADER_BYTES - taken);
    kiwicha_platform_jump(KIWICHA_LOADER_ADDRESS, KIWICHA_NO_STATUS);
}
