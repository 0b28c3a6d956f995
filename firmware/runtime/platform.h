/**
 * What the library needs of the machine that it runs on.
 *
 * `kiwicha_platform_cycles` always; with an engine also `kiwicha_platform_drain_stores` and
 * `kiwicha_platform_forget_cached`. The others are for applications to call.
 */
#ifndef KIWICHA_PLATFORM_H
#define KIWICHA_PLATFORM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** Enables the CFU: before `kiwicha_open`, because custom instructions trap until then. */
void kiwicha_platform_enable_cfu(void);

/** Sends text to whoever watches. */
void kiwicha_platform_print(const char *text);

#ifdef __cplusplus
}
#endif

#endif
