/**
 * @file
 * LiteX's serial boot: what `litex_term --kernel` speaks.
 */
#ifndef KIWICHA_LITEX_H
#define KIWICHA_LITEX_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes of what litex_term says if it has something to load. */
#define KIWICHA_LITEX_ANSWER_BYTES 14u

/** Sends the line that litex_term waits for. */
void kiwicha_litex_ask(void);

/** Whether a line that so begins can be litex_term's answer; `count` bytes have come before. */
bool kiwicha_litex_is_answer(uint8_t byte, uint32_t count);

/**
 * Obeys litex_term until it stops, starts a program, or is no longer the one that speaks.
 *
 * @param is_usable  whether it may write to a range of memory
 * @param start      receives where to begin
 * @return           whether to begin
 */
bool kiwicha_litex_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start);

#endif
