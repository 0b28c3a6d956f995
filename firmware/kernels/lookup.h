/** Bytes through a table, for kernels that are one or make one. */
#ifndef KIWICHA_LOOKUP_H
#define KIWICHA_LOOKUP_H

#include <stdint.h>

/**
 * Writes the table's entry for every byte of the input.
 *
 * @param input any alignment
 * @param table 256 bytes, by the input byte
 * @param output as many as the input; may be the input
 * @param count bytes
 */
void kiwicha_look_up_bytes(const uint8_t *input, const uint8_t *table, uint8_t *output,
                           uint32_t count);

#endif
