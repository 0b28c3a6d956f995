/* The loader in DRAM: answers requests from the serial line and starts firmware. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "flash.h"
#include "frame.h"
#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "line.h"
#include "litex.h"
#include "machine.h"
#include "platform.h"
#include "sdcard.h"

/* Request: number, operation, address, count or data. Answer: number, status, data. */
#define AT_NUMBER 0
#define AT_OP 1
#define AT_STATUS 1
#define AT_ADDRESS 2
#define AT_COUNT 6
#define AT_DATA_IN 6
#define AT_DATA_OUT 2
#define WORD_BYTES 4
#define BYTES_WITHOUT_FIELDS 2
#define BYTES_WITH_RANGE 10

static uint8_t request[KIWICHA_SERIAL_FRAME_BYTES];
static uint8_t answer[KIWICHA_SERIAL_FRAME_BYTES];
/* Not cleared when firmware comes back: start.S clears what has no initial value. */
static uint32_t runs __attribute__((section(".data"))) = 0;

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static void put_word(uint8_t *bytes, uint32_t value)
{
    for (uint32_t index = 0; index < 4; ++index) {
        bytes[index] = (uint8_t)(value >> (8 * index));
    }
}

static uint8_t *memory_at(uint32_t address)
{
    return (uint8_t *)(uintptr_t)address;
}

/* Whether a range lies in the DRAM that requests may use. */
static bool is_usable(uint32_t address, uint32_t bytes)
{
    return address >= KIWICHA_DRAM_BASE && bytes <= KIWICHA_SOC_DRAM_BYTES &&
           address - KIWICHA_DRAM_BASE <= KIWICHA_SOC_DRAM_BYTES - bytes;
}

/* Whether a range lies where another program may. The loader keeps nothing in on-chip memory, not
 * even its stack. */
static bool is_for_programs(uint32_t address, uint32_t bytes)
{
    return is_usable(address, bytes) ||
           (bytes <= KIWICHA_ONCHIP_BYTES &&
            address - KIWICHA_ONCHIP_BASE <= KIWICHA_ONCHIP_BYTES - bytes);
}

static uint32_t hello(uint32_t last_status)
{
    struct kiwicha_serial_hello said = {
        .magic = KIWICHA_SERIAL_MAGIC,
        .version = KIWICHA_SERIAL_VERSION,
        .config_hash = KIWICHA_CONFIG_HASH,
        .sys_clk_hz = KIWICHA_SYS_CLK_HZ,
        .dram_bytes = KIWICHA_SOC_DRAM_BYTES,
        .last_status = last_status,
        .runs = runs,
    };
    memcpy(answer + AT_DATA_OUT, &said, sizeof said);
    return sizeof said;
}

static void send_answer(enum kiwicha_serial_status status, uint32_t data_bytes)
{
    answer[AT_NUMBER] = request[AT_NUMBER];
    answer[AT_STATUS] = (uint8_t)status;
    kiwicha_frame_send(answer, AT_DATA_OUT + data_bytes);
}

static _Noreturn void start_at(uint32_t address)
{
    ++runs;
    kiwicha_platform_jump(address, 0);
}

static _Noreturn void run(uint32_t address, uint32_t bytes)
{
    memcpy(memory_at(KIWICHA_ONCHIP_BASE), memory_at(address), bytes);
    start_at(KIWICHA_ONCHIP_BASE);
}

static void obey(uint32_t bytes, uint32_t last_status)
{
    enum kiwicha_serial_op op = request[AT_OP];
    if (op == KIWICHA_SERIAL_OP_HELLO && bytes == BYTES_WITHOUT_FIELDS) {
        send_answer(KIWICHA_SERIAL_STATUS_OK, hello(last_status));
        return;
    }
    if (op == KIWICHA_SERIAL_OP_LIMITS && bytes == BYTES_WITHOUT_FIELDS) {
        put_word(answer + AT_DATA_OUT, KIWICHA_SERIAL_WINDOW_BYTES);
        send_answer(KIWICHA_SERIAL_STATUS_OK, WORD_BYTES);
        return;
    }
    bool has_range = op == KIWICHA_SERIAL_OP_READ || op == KIWICHA_SERIAL_OP_CHECK ||
                     op == KIWICHA_SERIAL_OP_RUN;
    if (!(has_range && bytes == BYTES_WITH_RANGE) &&
        !(op == KIWICHA_SERIAL_OP_WRITE && bytes >= AT_DATA_IN)) {
        send_answer(KIWICHA_SERIAL_STATUS_BAD_OP, 0);
        return;
    }
    uint32_t address = word_at(request + AT_ADDRESS);
    uint32_t count = has_range ? word_at(request + AT_COUNT) : bytes - AT_DATA_IN;
    uint32_t limit = UINT32_MAX;
    if (op == KIWICHA_SERIAL_OP_READ) {
        limit = KIWICHA_SERIAL_DATA_BYTES;
    } else if (op == KIWICHA_SERIAL_OP_RUN) {
        limit = KIWICHA_ONCHIP_BYTES;
    }
    if (!is_usable(address, count) || count > limit) {
        send_answer(KIWICHA_SERIAL_STATUS_BAD_BOUNDS, 0);
        return;
    }
    switch (op) {
    case KIWICHA_SERIAL_OP_READ:
        kiwicha_line_copy(answer + AT_DATA_OUT, memory_at(address), count);
        send_answer(KIWICHA_SERIAL_STATUS_OK, count);
        break;
    case KIWICHA_SERIAL_OP_WRITE:
        kiwicha_line_copy(memory_at(address), request + AT_DATA_IN, count);
        send_answer(KIWICHA_SERIAL_STATUS_OK, 0);
        break;
    case KIWICHA_SERIAL_OP_CHECK:
        put_word(answer + AT_DATA_OUT, kiwicha_crc32(memory_at(address), count));
        send_answer(KIWICHA_SERIAL_STATUS_OK, WORD_BYTES);
        break;
    default:
        send_answer(KIWICHA_SERIAL_STATUS_OK, 0);
        run(address, count);
    }
}

static void obey_litex(void)
{
    uint32_t start;
    if (kiwicha_litex_load(is_for_programs, &start)) {
        start_at(start);
    }
}

/* A host that speaks meanwhile gets the loader, whatever is stored. */
#define WAIT_CYCLES (KIWICHA_SYS_CLK_HZ / 4u)

static void boot_from_stored(void)
{
    uint32_t start;
    if ((kiwicha_sdcard_load(is_for_programs, &start) ||
         kiwicha_flash_load(is_for_programs, &start)) &&
        start != KIWICHA_FLASH_NO_START && kiwicha_line_is_silent(WAIT_CYCLES)) {
        start_at(start);
    }
}

int main(uint32_t last_status);

int main(uint32_t last_status)
{
    /* The engine may have written what the CPU has cached. */
    kiwicha_platform_forget_cached();
    bool has_asked = last_status == KIWICHA_NO_STATUS;
    if (has_asked) {
        kiwicha_litex_ask();
        boot_from_stored();
    }
    for (;;) {
        uint32_t bytes = kiwicha_frame_receive(request);
        if (bytes == KIWICHA_FRAME_IS_LITEX) {
            obey_litex();
        } else if (bytes >= BYTES_WITHOUT_FIELDS) {
            if (has_asked) {
                /* The question is no part of the first answer. */
                kiwicha_line_send(0);
                has_asked = false;
            }
            obey(bytes, last_status);
        }
    }
}
