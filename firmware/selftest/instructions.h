/**
 * @file
 * Executes custom instructions that are known only at run time.
 */
#ifndef KIWICHA_SELFTEST_INSTRUCTIONS_H
#define KIWICHA_SELFTEST_INSTRUCTIONS_H

#include <stdint.h>

/**
 * Executes custom instructions one after the other.
 *
 * @param table  address of `count` times struct kiwicha_serial_instruction
 * @param count  how many
 * @param answers  address of a word for the answer of each
 */
void kiwicha_execute_instructions(uint32_t table, uint32_t count, uint32_t answers);

#endif
