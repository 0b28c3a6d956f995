/**
 * @file
 * The bare machine under the runtime: UART, cycle counter, CFU, end of the firmware.
 */
#ifndef KIWICHA_MACHINE_H
#define KIWICHA_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform.h"

/** Hands DRAM to its controller. */
void kiwicha_platform_init_dram(void);

/** Sends a byte, waiting for space in the UART. */
void kiwicha_platform_send(uint8_t byte);

/** Takes a byte that the UART has received, if there is one. */
bool kiwicha_platform_receive(uint8_t *byte);

/** Sends a value as eight hexadecimal digits. */
void kiwicha_platform_print_hex(uint32_t value);

/**
 * Ends the firmware: in a simulation with this exit code, on a board by going back to the loader.
 *
 * @param status  enum kiwicha_status
 */
_Noreturn void kiwicha_platform_exit(uint32_t status);

/** Reports a trap and ends the firmware with KIWICHA_STATUS_TRAP. */
_Noreturn void kiwicha_platform_trap(uint32_t cause, uint32_t address, uint32_t value);

/**
 * Starts a program that was written to memory, and does not come back.
 *
 * @param address  its first instruction
 * @param argument  what its `main` gets
 */
_Noreturn void kiwicha_platform_jump(uint32_t address, uint32_t argument);

#endif
