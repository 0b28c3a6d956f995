/* Reads an SD card in SPI mode.
 *
 * Ref: SD Specifications Part 1, Physical Layer Simplified Specification, version 4.10; sections
 * are named where they are used. */

#include "sdcard.h"

#ifdef KIWICHA_CSR_SDCARD_CONTROL

#include <stddef.h>

#include "kiwicha_isa.h"
#include "line.h"
#include "machine.h"
#include "spi.h"
#include "stored.h"

/* Commands (7.3.1.3). */
#define GO_IDLE_STATE 0u
#define SEND_IF_COND 8u
#define SET_BLOCKLEN 16u
#define READ_SINGLE_BLOCK 17u
#define SD_SEND_OP_COND 41u
#define APP_CMD 55u
#define READ_OCR 58u
#define CRC_ON_OFF 59u
#define START_BITS 0x40u
#define END_BIT 0x01u
#define FIELDS_BYTES 5

/* The answer R1 (7.3.2.1). What is no answer has the highest bit. */
#define IS_IDLE 0x01u
#define IS_ILLEGAL 0x04u
#define IS_NONE 0x80u
/* At most eight bytes come before it (7.5.4, N_CR). */
#define ANSWER_BYTES 9
#define MORE_BYTES 4

/* 2.7 to 3.6 V, and a pattern that comes back (4.3.13). */
#define VOLTAGE_AND_PATTERN 0x1aau
#define VOLTAGE_AND_PATTERN_MASK 0xfffu
/* Of the argument of SD_SEND_OP_COND, and of what READ_OCR answers (5.1). */
#define HIGH_CAPACITY 0x40000000u

#define BLOCK_BYTES 512u
#define CRC_BYTES 2u
/* Before a block (7.3.3.2). Another byte is an error (7.3.3.3). */
#define START_TOKEN 0xfeu

/* What the line carries while nobody speaks. */
#define SILENCE 0xffu
/* At least 74 clocks before the first command (6.4.1). */
#define POWER_UP_BYTES 10
/* More than a block with its CRC, which a reset may have left half read. */
#define REST_BYTES 600u
#define MOST_RESETS 3
/* A card may start for a second (4.2.3), and read for a tenth of one (4.6.2.1). */
#define START_CYCLES KIWICHA_SYS_CLK_HZ
#define READ_CYCLES (KIWICHA_SYS_CLK_HZ / 10u)

static const struct kiwicha_spi card = KIWICHA_SPI(SDCARD);
static bool counts_blocks;
static uint8_t block[BLOCK_BYTES];

static uint8_t exchange(uint8_t byte)
{
    kiwicha_line_poll();
    return (uint8_t)kiwicha_spi_exchange(&card, (uint32_t)byte << 24, 8);
}

static void skip(uint32_t bytes)
{
    while (bytes-- > 0) {
        (void)exchange(SILENCE);
    }
}

static void set_clock(uint32_t divider)
{
    *kiwicha_spi_register(KIWICHA_CSR_SDCARD_CLK_DIVIDER) = divider;
}

/* The card lets go of its line with the clocks that follow (7.5). */
static void release(void)
{
    kiwicha_spi_select(&card, false);
    skip(1);
}

/* x^7 + x^3 + 1 (4.5), in the upper seven bits. */
static uint8_t crc7(const uint8_t *bytes, uint32_t count)
{
    const uint32_t polynomial = 0x09u << 1;
    uint32_t crc = 0;
    for (uint32_t at = 0; at < count; ++at) {
        crc ^= bytes[at];
        for (uint32_t bit = 0; bit < 8; ++bit) {
            crc = crc << 1 ^ ((crc & 0x80u) != 0 ? polynomial : 0);
        }
    }
    return (uint8_t)crc;
}

/* x^16 + x^12 + x^5 + 1 (4.5), by bytes: what a byte does to the sum depends on that byte and the
 * sum's upper one alone, and each of the three terms shifts it by its exponent. */
static uint32_t crc16_with(uint32_t crc, uint8_t byte)
{
    uint32_t top = (crc >> 8 ^ byte) & 0xffu;
    top ^= top >> 4;
    return (crc << 8 ^ top << 12 ^ top << 5 ^ top) & 0xffffu;
}

/* Sends a command and returns R1. The card stays selected. */
static uint8_t begin(uint8_t command, uint32_t argument)
{
    const uint8_t fields[FIELDS_BYTES] = {
        (uint8_t)(START_BITS | command), (uint8_t)(argument >> 24), (uint8_t)(argument >> 16),
        (uint8_t)(argument >> 8),        (uint8_t)argument,
    };
    kiwicha_spi_select(&card, true);
    skip(1);
    for (uint32_t index = 0; index < FIELDS_BYTES; ++index) {
        (void)exchange(fields[index]);
    }
    (void)exchange(crc7(fields, FIELDS_BYTES) | END_BIT);
    uint8_t answer = SILENCE;
    for (uint32_t count = 0; count < ANSWER_BYTES && (answer & IS_NONE) != 0; ++count) {
        answer = exchange(SILENCE);
    }
    return answer;
}

/* Sends a command and returns R1; `more` receives what R3 and R7 have behind it (7.3.2.4, 7.3.2.6).
 */
static uint8_t ask(uint8_t command, uint32_t argument, uint32_t *more)
{
    uint8_t answer = begin(command, argument);
    if (more != NULL && (answer & ~IS_IDLE) == 0) {
        for (uint32_t index = 0; index < MORE_BYTES; ++index) {
            *more = *more << 8 | exchange(SILENCE);
        }
    }
    release();
    return answer;
}

static bool is_reset(void)
{
    for (uint32_t count = 0; count < MOST_RESETS; ++count) {
        kiwicha_spi_select(&card, false);
        skip(POWER_UP_BYTES);
        if (ask(GO_IDLE_STATE, 0, NULL) == IS_IDLE) {
            return true;
        }
        /* The system may have been reset while the card was sending. */
        kiwicha_spi_select(&card, true);
        skip(REST_BYTES);
    }
    return false;
}

/* The flow of figure 7-2. */
static const char *start_card(void)
{
    set_clock(KIWICHA_SDCARD_START_DIVIDER);
    counts_blocks = false;
    if (!is_reset()) {
        return "no card answers";
    }
    uint32_t more = 0;
    uint8_t answer = ask(SEND_IF_COND, VOLTAGE_AND_PATTERN, &more);
    bool knows_capacities = (answer & IS_ILLEGAL) == 0;
    if (knows_capacities && answer != IS_IDLE) {
        return "the card refuses to start";
    }
    if (knows_capacities && (more & VOLTAGE_AND_PATTERN_MASK) != VOLTAGE_AND_PATTERN) {
        return "the card does not work at 3.3 V";
    }
    /* Else CRCs mean nothing in SPI mode (7.2.2). */
    if (ask(CRC_ON_OFF, 1, NULL) != IS_IDLE) {
        return "the card refuses to start";
    }
    const uint32_t begun = kiwicha_platform_cycles();
    do {
        if (kiwicha_platform_cycles() - begun > START_CYCLES) {
            return "the card does not become ready";
        }
        (void)ask(APP_CMD, 0, NULL);
        answer = ask(SD_SEND_OP_COND, knows_capacities ? HIGH_CAPACITY : 0, NULL);
        if ((answer & IS_ILLEGAL) != 0) {
            return "the card is no SD memory card";
        }
    } while (answer != 0);
    if (knows_capacities) {
        if (ask(READ_OCR, 0, &more) != 0) {
            return "the card refuses to start";
        }
        counts_blocks = (more & HIGH_CAPACITY) != 0;
    }
    if (!counts_blocks && ask(SET_BLOCKLEN, BLOCK_BYTES, NULL) != 0) {
        return "the card refuses to start";
    }
    set_clock(KIWICHA_SDCARD_DIVIDER);
    return NULL;
}

static const char *receive_block(void)
{
    const uint32_t begun = kiwicha_platform_cycles();
    uint8_t token;
    do {
        if (kiwicha_platform_cycles() - begun > READ_CYCLES) {
            return "the card takes too long to read a block";
        }
        token = exchange(SILENCE);
    } while (token == SILENCE);
    if (token != START_TOKEN) {
        return "the card cannot read a block";
    }
    uint32_t crc = 0;
    for (uint32_t at = 0; at < BLOCK_BYTES;) {
        uint32_t word = kiwicha_spi_exchange(&card, UINT32_MAX, KIWICHA_SPI_WORD_BITS);
        for (uint32_t index = 0; index < KIWICHA_SPI_WORD_BYTES; ++index) {
            block[at] = (uint8_t)(word >> 24);
            crc = crc16_with(crc, block[at++]);
            word <<= 8;
        }
        kiwicha_line_poll();
    }
    uint32_t sent = 0;
    for (uint32_t index = 0; index < CRC_BYTES; ++index) {
        sent = sent << 8 | exchange(SILENCE);
    }
    return sent == crc ? NULL : "the CRC of a block is wrong";
}

static const char *read_block(uint32_t number)
{
    const char *fault = "the card refuses to read a block";
    if (begin(READ_SINGLE_BLOCK, counts_blocks ? number : number * BLOCK_BYTES) == 0) {
        fault = receive_block();
    }
    release();
    return fault;
}

static const char *read_card(uint8_t *to, uint32_t offset, uint32_t bytes)
{
    while (bytes > 0) {
        const uint32_t number = offset / BLOCK_BYTES;
        const uint32_t first = offset % BLOCK_BYTES;
        const uint32_t rest = BLOCK_BYTES - first;
        const uint32_t count = bytes < rest ? bytes : rest;
        /* Once more, for a disturbance passes. */
        const char *fault = read_block(number) == NULL ? NULL : read_block(number);
        if (fault != NULL) {
            return fault;
        }
        kiwicha_line_copy(to, block + first, count);
        to += count;
        offset += count;
        bytes -= count;
    }
    return NULL;
}

bool kiwicha_sdcard_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start)
{
    static const struct kiwicha_place place = {
        .title = "kiwicha: SD card: ",
        .without_image = "no image on it",
        /* The card knows its end. */
        .space_bytes = UINT32_MAX,
        .read = read_card,
    };
    const char *fault = start_card();
    if (fault != NULL) {
        return kiwicha_stored_fails(&place, fault);
    }
    return kiwicha_stored_load(&place, is_usable, start);
}

#endif
