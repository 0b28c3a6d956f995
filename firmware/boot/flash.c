#include "flash.h"

#include <stddef.h>

#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "line.h"
#include "spi.h"
#include "stored.h"

#ifdef KIWICHA_CSR_FLASH_CONTROL

#define READ 0x03u
#define ADDRESS_BITS 24

static const struct kiwicha_spi flash = KIWICHA_SPI(FLASH);

static const char *read_flash(uint8_t *to, uint32_t offset, uint32_t bytes)
{
    kiwicha_spi_select(&flash, true);
    (void)kiwicha_spi_exchange(&flash, READ << ADDRESS_BITS | (KIWICHA_FLASH_IMAGE_OFFSET + offset),
                               KIWICHA_SPI_WORD_BITS);
    while (bytes > 0) {
        uint32_t word = kiwicha_spi_exchange(&flash, 0, KIWICHA_SPI_WORD_BITS);
        for (uint32_t index = 0; index < KIWICHA_SPI_WORD_BYTES && bytes > 0; ++index, --bytes) {
            *to++ = (uint8_t)(word >> 24);
            word <<= 8;
        }
        kiwicha_line_poll();
    }
    kiwicha_spi_select(&flash, false);
    return NULL;
}

bool kiwicha_flash_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start)
{
    static const struct kiwicha_place place = {
        .title = "kiwicha: flash memory: ",
        /* A bitstream alone. */
        .without_image = NULL,
        .space_bytes = KIWICHA_FLASH_BYTES - KIWICHA_FLASH_IMAGE_OFFSET,
        .read = read_flash,
    };
    return kiwicha_stored_load(&place, is_usable, start);
}

#else

bool kiwicha_flash_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start)
{
    (void)is_usable;
    (void)start;
    return false;
}

#endif
