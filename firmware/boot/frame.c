#include "frame.h"

#include <stdbool.h>

#include "kiwicha_isa.h"
#include "line.h"
#include "litex.h"

#define CRC_BYTES 4
/* COBS: a code byte says where the next zero is, up to 254 bytes on; 255 says that there is none.
 */
#define LONGEST_BLOCK 254

static uint32_t crc_of_byte(uint32_t crc, uint8_t byte)
{
    /* Of every half byte; the reflected polynomial is 0xedb88320. */
    static const uint32_t table[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
        0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
        0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu,
    };
    crc ^= byte;
    crc = crc >> 4 ^ table[crc & 15];
    return crc >> 4 ^ table[crc & 15];
}

/* Bytes between two looks at the line: 64 take less than the 16 that the UART keeps. */
#define UNWATCHED_BYTES 64u

uint32_t kiwicha_crc32(const uint8_t *bytes, uint32_t count)
{
    uint32_t crc = UINT32_MAX;
    for (uint32_t index = 0; index < count; ++index) {
        if (index % UNWATCHED_BYTES == 0) {
            kiwicha_line_poll();
        }
        crc = crc_of_byte(crc, bytes[index]);
    }
    return ~crc;
}

/* What the CRC of bytes and of their own CRC is, before its last inversion. */
#define RESIDUE 0xdebb20e3u

/* A frame that is being received: COBS is undone and the CRC computed as its bytes come, so that
 * the next frame finds the CPU free. */
struct reception {
    uint8_t *body;
    uint32_t count;
    uint32_t crc;
    /* Bytes that the block still has, and whether a zero follows it if the frame goes on. */
    uint32_t left;
    bool owes_zero;
    bool is_bad;
};

static void append(struct reception *frame, uint8_t byte)
{
    if (frame->count == KIWICHA_SERIAL_FRAME_BYTES) {
        frame->is_bad = true;
        return;
    }
    frame->body[frame->count++] = byte;
    frame->crc = crc_of_byte(frame->crc, byte);
}

static void take(struct reception *frame, uint8_t byte)
{
    if (frame->left > 0) {
        append(frame, byte);
        --frame->left;
        return;
    }
    if (frame->owes_zero) {
        append(frame, 0);
    }
    frame->left = byte - 1u;
    frame->owes_zero = byte <= LONGEST_BLOCK;
}

uint32_t kiwicha_frame_receive(uint8_t *body)
{
    struct reception frame = {.body = body, .crc = UINT32_MAX};
    /* At the beginning alone: inside a frame the same bytes are data. None begins so that says an
     * operation. */
    uint32_t litex_bytes = 0;
    bool can_be_litex = true;
    for (;;) {
        uint8_t byte = kiwicha_line_receive();
        if (byte == 0) {
            break;
        }
        can_be_litex = can_be_litex && kiwicha_litex_is_answer(byte, litex_bytes);
        if (can_be_litex && ++litex_bytes == KIWICHA_LITEX_ANSWER_BYTES) {
            return KIWICHA_FRAME_IS_LITEX;
        }
        take(&frame, byte);
    }
    if (frame.is_bad || frame.left > 0 || frame.count < CRC_BYTES || frame.crc != RESIDUE) {
        return 0;
    }
    return frame.count - CRC_BYTES;
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
        kiwicha_line_send((uint8_t)(length + 1));
        for (uint32_t index = 0; index < length; ++index) {
            kiwicha_line_send(body[from + index]);
        }
        from += length;
        /* A block that ends at a zero takes it along, and another block follows even if empty. */
        is_open = from < bytes;
        if (length < LONGEST_BLOCK && is_open) {
            ++from;
        }
    }
    kiwicha_line_send(0);
}
