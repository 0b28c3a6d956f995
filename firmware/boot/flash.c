#include "flash.h"

#include <stddef.h>
#include <string.h>

#include "frame.h"
#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "line.h"
#include "machine.h"

#ifdef KIWICHA_CSR_FLASH_CONTROL

/* Registers of LiteX's SPIMaster. */
#define CONTROL_START 0x01u
#define CONTROL_LENGTH_SHIFT 8
#define STATUS_DONE 0x01u
#define CS_SELECT 0x01u
#define CS_BY_SOFTWARE 0x10000u

#define WORD_BYTES 4u
#define WORD_BITS 32u
#define READ 0x03u
#define ADDRESS_BITS 24

static volatile uint32_t *register_at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

/* Sends a word, its most significant bit first, and returns what comes meanwhile. */
static uint32_t exchange(uint32_t word)
{
    *register_at(KIWICHA_CSR_FLASH_MOSI) = word;
    *register_at(KIWICHA_CSR_FLASH_CONTROL) = WORD_BITS << CONTROL_LENGTH_SHIFT | CONTROL_START;
    while ((*register_at(KIWICHA_CSR_FLASH_STATUS) & STATUS_DONE) == 0) {
    }
    return *register_at(KIWICHA_CSR_FLASH_MISO);
}

static void read_flash(uint8_t *to, uint32_t offset, uint32_t bytes)
{
    *register_at(KIWICHA_CSR_FLASH_CS) = CS_BY_SOFTWARE | CS_SELECT;
    (void)exchange(READ << ADDRESS_BITS | (KIWICHA_FLASH_IMAGE_OFFSET + offset));
    while (bytes > 0) {
        uint32_t word = exchange(0);
        for (uint32_t index = 0; index < WORD_BYTES && bytes > 0; ++index, --bytes) {
            *to++ = (uint8_t)(word >> 24);
            word <<= 8;
        }
        kiwicha_line_poll();
    }
    *register_at(KIWICHA_CSR_FLASH_CS) = CS_BY_SOFTWARE;
}

static bool fails(const char *what)
{
    kiwicha_platform_print("kiwicha: flash memory: ");
    kiwicha_platform_print(what);
    kiwicha_platform_print("\n");
    return false;
}

/* Whether a range lies in flash memory, behind the header. */
static bool is_stored(uint32_t offset, uint32_t bytes)
{
    const uint32_t space = KIWICHA_FLASH_BYTES - KIWICHA_FLASH_IMAGE_OFFSET;
    return bytes <= space && offset <= space - bytes;
}

bool kiwicha_flash_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start)
{
    static struct {
        struct kiwicha_flash_header header;
        struct kiwicha_flash_record records[KIWICHA_FLASH_MOST_RECORDS];
    } said;
    /* Without the CRC, which the records follow. */
    static uint8_t covered[sizeof said];
    const uint32_t before_crc = offsetof(struct kiwicha_flash_header, crc);
    read_flash((uint8_t *)&said, 0, sizeof said);
    if (said.header.magic != KIWICHA_FLASH_MAGIC) {
        /* A bitstream alone. */
        return false;
    }
    if (said.header.version != KIWICHA_FLASH_VERSION || said.header.records == 0 ||
        said.header.records > KIWICHA_FLASH_MOST_RECORDS) {
        return fails("written by another version");
    }
    if (said.header.config_hash != KIWICHA_CONFIG_HASH) {
        return fails("for another configuration");
    }
    const uint32_t records_bytes = said.header.records * sizeof said.records[0];
    memcpy(covered, &said.header, before_crc);
    memcpy(covered + before_crc, said.records, records_bytes);
    if (kiwicha_crc32(covered, before_crc + records_bytes) != said.header.crc) {
        return fails("its table has changed");
    }
    for (uint32_t index = 0; index < said.header.records; ++index) {
        const struct kiwicha_flash_record *record = &said.records[index];
        uint8_t *to = (uint8_t *)(uintptr_t)record->address;
        if (!is_stored(record->offset, record->bytes) ||
            !is_usable(record->address, record->bytes)) {
            return fails("a piece lies outside the memory");
        }
        read_flash(to, record->offset, record->bytes);
        if (kiwicha_crc32(to, record->bytes) != record->crc) {
            return fails("its bytes have changed");
        }
    }
    *start = said.header.start_address;
    if (*start != KIWICHA_FLASH_NO_START && !is_usable(*start, WORD_BYTES)) {
        return fails("its program lies outside the memory");
    }
    return true;
}

#else

bool kiwicha_flash_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start)
{
    (void)is_usable;
    (void)start;
    return false;
}

#endif
