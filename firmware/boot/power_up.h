/**
 * @file
 * The short self-test of the boot image.
 */
#ifndef KIWICHA_POWER_UP_H
#define KIWICHA_POWER_UP_H

#include <stdint.h>

/**
 * Checks memory, custom instructions and engine, and says over the serial line what came of it. It
 * says each part before the next one begins: one that hangs is the one behind.
 *
 * @param scratch  address of DRAM that it may overwrite, a multiple of 32
 * @param bytes  how much there is
 */
void kiwicha_power_up_test(uint32_t scratch, uint32_t bytes);

#endif
