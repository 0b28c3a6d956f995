/** What the runtime needs from the machine it runs on. */
#ifndef KIWICHA_PLATFORM_H
#define KIWICHA_PLATFORM_H

#include <stdint.h>

/**
 * Returns a free-running counter of cycles, modulo 2**32.
 *
 * Differences of two readings are what the runtime reports per step.
 */
uint32_t kiwicha_platform_cycles(void);

/** Returns when every earlier store of the CPU is seen by other users of DRAM. */
void kiwicha_platform_drain_stores(void);

/** Empties the CPU's data cache: what it reads from now on is what others have written to DRAM. */
void kiwicha_platform_forget_cached(void);

#endif
