/**
 * @file
 * Frames of the serial line: COBS, a CRC-32 at the end, and a zero byte after it.
 */
#ifndef KIWICHA_FRAME_H
#define KIWICHA_FRAME_H

#include <stdint.h>

/** Returns the CRC-32 of bytes: that of zlib. */
uint32_t kiwicha_crc32(const uint8_t *bytes, uint32_t count);

/** In place of a frame's bytes: litex_term has answered. */
#define KIWICHA_FRAME_IS_LITEX UINT32_MAX

/**
 * Waits for a frame that is whole, or for litex_term.
 *
 * @param body  receives the decoded frame; KIWICHA_SERIAL_FRAME_BYTES long
 * @return      bytes of the body, without its CRC; 0 if what came was no frame;
 *              or KIWICHA_FRAME_IS_LITEX
 */
uint32_t kiwicha_frame_receive(uint8_t *body);

/**
 * Sends a frame.
 *
 * @param body  its bytes, and space for four more
 * @param bytes how many
 */
void kiwicha_frame_send(uint8_t *body, uint32_t bytes);

#endif
