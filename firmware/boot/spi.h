/**
 * @file
 * LiteX's SPIMaster, with chip select by software.
 *
 * Inline, so that its registers are constants where it is used.
 */
#ifndef KIWICHA_SPI_H
#define KIWICHA_SPI_H

#include <stdbool.h>
#include <stdint.h>

#include "kiwicha_soc.h"

#define KIWICHA_SPI_WORD_BYTES 4u
#define KIWICHA_SPI_WORD_BITS 32u

/** Addresses of its registers. */
struct kiwicha_spi {
    uint32_t control;
    uint32_t status;
    uint32_t mosi;
    uint32_t miso;
    uint32_t cs;
};

/** The registers of the block NAME. */
#define KIWICHA_SPI(NAME)                                                                          \
    {KIWICHA_CSR_##NAME##_CONTROL, KIWICHA_CSR_##NAME##_STATUS, KIWICHA_CSR_##NAME##_MOSI,         \
     KIWICHA_CSR_##NAME##_MISO, KIWICHA_CSR_##NAME##_CS}

static inline volatile uint32_t *kiwicha_spi_register(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

/**
 * Sends the upper bits of a word, the most significant one first.
 *
 * @return  what has come meanwhile, in the lower bits; the others mean nothing
 */
static inline uint32_t kiwicha_spi_exchange(const struct kiwicha_spi *spi, uint32_t word,
                                            uint32_t bits)
{
    const uint32_t start = 0x01u;
    const uint32_t is_done = 0x01u;
    *kiwicha_spi_register(spi->mosi) = word;
    *kiwicha_spi_register(spi->control) = bits << 8 | start;
    while ((*kiwicha_spi_register(spi->status) & is_done) == 0) {
    }
    return *kiwicha_spi_register(spi->miso);
}

/** Selects the chip, or releases it. */
static inline void kiwicha_spi_select(const struct kiwicha_spi *spi, bool is_selected)
{
    const uint32_t by_software = 0x10000u;
    *kiwicha_spi_register(spi->cs) = by_software | (uint32_t)is_selected;
}

#endif
