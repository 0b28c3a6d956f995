#include "litex.h"

#include <stddef.h>

#include "kiwicha_soc.h"
#include "line.h"

/* A frame: bytes of data, CRC of operation and data, operation, data. Words come with their most
 * significant byte first. Each frame is answered by a letter. */
enum operation { STOP = 0, LOAD = 1, START = 2 };
enum answer { DONE = 'K', BAD_CRC = 'C', UNKNOWN = 'U', REFUSED = 'E' };

#define WORD_BYTES 4u
#define MOST_BYTES 255u
/* So many bad frames in a row, and it is somebody else who speaks. */
#define MOST_BAD_FRAMES 8u
/* So long after a byte the rest of its frame is lost. A byte takes at most a thousandth of this. */
#define SILENCE_CYCLES (KIWICHA_SYS_CLK_HZ / 10u)

static const char question[] = "sL5DdSMmkekro\n";
static const char expected[] = "z6IHG7cYDID6o\n";
_Static_assert(sizeof expected == KIWICHA_LITEX_ANSWER_BYTES + 1u, "and a zero");

struct frame {
    uint8_t operation;
    uint8_t bytes;
    uint8_t data[MOST_BYTES];
};

void kiwicha_litex_ask(void)
{
    for (const char *text = question; *text != '\0'; ++text) {
        kiwicha_line_send((uint8_t)*text);
    }
}

bool kiwicha_litex_is_answer(uint8_t byte, uint32_t count)
{
    return byte == (uint8_t)expected[count];
}

static uint16_t crc_of_byte(uint16_t crc, uint8_t byte)
{
    /* Of every half byte; the polynomial is 0x1021. */
    static const uint16_t table[16] = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
        0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef,
    };
    crc = (uint16_t)(crc << 4 ^ table[(crc >> 12 ^ byte >> 4) & 15]);
    return (uint16_t)(crc << 4 ^ table[(crc >> 12 ^ byte) & 15]);
}

/* Whether a whole frame has come. */
static bool receive(struct frame *frame)
{
    uint8_t head[3];
    frame->bytes = kiwicha_line_receive();
    for (size_t index = 0; index < sizeof head; ++index) {
        if (!kiwicha_line_receive_within(&head[index], SILENCE_CYCLES)) {
            return false;
        }
    }
    frame->operation = head[2];
    uint16_t crc = crc_of_byte(0, frame->operation);
    for (uint32_t index = 0; index < frame->bytes; ++index) {
        if (!kiwicha_line_receive_within(&frame->data[index], SILENCE_CYCLES)) {
            return false;
        }
        crc = crc_of_byte(crc, frame->data[index]);
    }
    return crc == (uint16_t)(head[0] << 8 | head[1]);
}

static uint32_t first_word(const struct frame *frame)
{
    return (uint32_t)frame->data[0] << 24 | (uint32_t)frame->data[1] << 16 |
           (uint32_t)frame->data[2] << 8 | (uint32_t)frame->data[3];
}

static enum answer obey(const struct frame *frame, bool (*is_usable)(uint32_t, uint32_t))
{
    if (frame->bytes < WORD_BYTES || (frame->operation != LOAD && frame->operation != START)) {
        return UNKNOWN;
    }
    uint32_t address = first_word(frame);
    uint32_t bytes = frame->bytes - WORD_BYTES;
    if (!is_usable(address, bytes)) {
        return REFUSED;
    }
    kiwicha_line_copy((void *)(uintptr_t)address, frame->data + WORD_BYTES, bytes);
    return DONE;
}

bool kiwicha_litex_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start)
{
    static struct frame frame;
    for (uint32_t bad_frames = 0; bad_frames < MOST_BAD_FRAMES;) {
        if (!receive(&frame)) {
            kiwicha_line_send(BAD_CRC);
            ++bad_frames;
            continue;
        }
        bad_frames = 0;
        enum answer answer = frame.operation == STOP ? DONE : obey(&frame, is_usable);
        kiwicha_line_send((uint8_t)answer);
        if (frame.operation == STOP) {
            break;
        }
        if (answer == DONE && frame.operation == START) {
            *start = first_word(&frame);
            return true;
        }
    }
    return false;
}
