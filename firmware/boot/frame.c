#include "frame.h"

#include <stdbool.h>

#include "kiwicha_isa.h"
#include "machine.h"

#define CRC_BYTES 4
/* COBS: a code byte says where the next zero is, up to 254 bytes on; 255 says that there is none.
 */
#define LONGEST_BLOCK 254

uint32_t kiwicha_crc32(const uint8_t *bytes, uint32_t count)
{
    /* Of every half byte; the reflected polynomial is 0xedb88320. */
    static const uint32_t table[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
        0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
        0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu,
    };
    uint32_t crc = UINT32_MAX;
    for (; count > 0; --count) {
        crc ^= *bytes++;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static uint8_t wait_for_byte(void)
{
    uint8_t byte = 0;
    while (!kiwicha_platform_receive(&byte)) {
    }
    return byte;
}

/* Undoes COBS in place; 0 if a block ends outside. */
static uint32_t decoded(uint8_t *bytes, uint32_t count)
{
    uint32_t from = 0;
    uint32_t to = 0;
    while (from < count) {
        uint32_t code = bytes[from++];
        if (code - 1 > count - from) {
            return 0;
        }
        for (uint32_t index = 1; index < code; ++index) {
            bytes[to++] = bytes[from++];
        }
        if (code <= LONGEST_BLOCK && from < count) {
            bytes[to++] = 0;
        }
    }
    return to;
}

uint32_t kiwicha_frame_receive(uint8_t *body)
{
    uint32_t count = 0;
    bool is_too_long = false;
    for (;;) {
        uint8_t byte = wait_for_byte();
        if (byte == 0) {
            break;
        }
        if (count < KIWICHA_SERIAL_FRAME_BYTES) {
            body[count++] = byte;
        } else {
            is_too_long = true;
        }
    }
    uint32_t bytes = is_too_long ? 0 : decoded(body, count);
    if (bytes < CRC_BYTES) {
        return 0;
    }
    bytes -= CRC_BYTES;
    uint32_t crc = kiwicha_crc32(body, bytes);
    for (uint32_t index = 0; index < CRC_BYTES; ++index) {
        if (body[bytes + index] != (uint8_t)(crc >> (8 * index))) {
            return 0;
        }
    }
    return bytes;
}

void kiwicha_frame_send(uint8_t *body, uint32_t bytes)
{
    uint32_t crc = kiwicha_crc32(body, bytes);
    for (uint32_t index = 0; index < CRC_BYTES; ++index) {
        body[bytes++] = (uint8_t)(crc >> (8 * index));
    }
    uint32_t from = 0;
    bool is_open = true;
    while (is_open) {
        uint32_t length = 0;
        while (from + length < bytes && length < LONGEST_BLOCK && body[from + length] != 0) {
            ++length;
        }
        kiwicha_platform_send((uint8_t)(length + 1));
        for (uint32_t index = 0; index < length; ++index) {
            kiwicha_platform_send(body[from + index]);
        }
        from += length;
        /* A block that ends at a zero takes it along, and another block follows even if empty. */
        is_open = from < bytes;
        if (length < LONGEST_BLOCK && is_open) {
            ++from;
        }
    }
    kiwicha_platform_send(0);
}
