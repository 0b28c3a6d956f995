/**
 * @file
 * The serial line of the loader: bytes that come while it is busy wait in memory.
 *
 * The UART keeps 16 bytes. Whatever takes longer than these looks at the line meanwhile.
 */
#ifndef KIWICHA_LINE_H
#define KIWICHA_LINE_H

#include <stdbool.h>
#include <stdint.h>

/** Takes what the UART has received, as far as there is room for KIWICHA_SERIAL_WINDOW_BYTES. */
void kiwicha_line_poll(void);

/** Waits for a byte. */
uint8_t kiwicha_line_receive(void);

/** Waits for a byte, so many cycles at most; whether one has come. */
bool kiwicha_line_receive_within(uint8_t *byte, uint32_t cycles);

/** Whether no byte comes for so many cycles. */
bool kiwicha_line_is_silent(uint32_t cycles);

/** Sends a byte, and looks at the line until the UART has room for it. */
void kiwicha_line_send(uint8_t byte);

/** Copies memory, and looks at the line meanwhile. */
void kiwicha_line_copy(void *to, const void *from, uint32_t bytes);

#endif
