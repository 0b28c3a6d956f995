/**
 * @file
 * Tests of a memory: each finds out what differs, and where first.
 */
#ifndef KIWICHA_SELFTEST_MEMORY_H
#define KIWICHA_SELFTEST_MEMORY_H

#include <stdint.h>

#include "kiwicha_isa.h"

/** Reads a word of the memory under test, not of a cache after `kiwicha_memory_settle()`. */
uint32_t kiwicha_memory_load(uint32_t address);

/** Writes a word of the memory under test. */
void kiwicha_memory_store(uint32_t address, uint32_t value);

/** Returns when all that was stored is in the memory, and nothing of it in a cache. */
void kiwicha_memory_settle(void);

/** Makes a check of the memory and notes in `test` what differs. */
void kiwicha_check_memory(volatile struct kiwicha_self_test *test);

#endif
