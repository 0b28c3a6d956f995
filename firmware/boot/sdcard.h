/**
 * @file
 * What lies on an SD card, from its first block on.
 */
#ifndef KIWICHA_SDCARD_H
#define KIWICHA_SDCARD_H

#include <stdbool.h>
#include <stdint.h>

#include "kiwicha_soc.h"

#ifdef KIWICHA_CSR_SDCARD_CONTROL

/**
 * Copies it to memory.
 *
 * @param is_usable  whether it may write to a range of memory
 * @param start      receives where to begin, or KIWICHA_FLASH_NO_START
 * @return           whether all of it is there; if not, a line says why
 */
bool kiwicha_sdcard_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start);

#else

/** There is no card without pins for one. */
static inline bool kiwicha_sdcard_load(bool (*is_usable)(uint32_t address, uint32_t bytes),
                                       uint32_t *start)
{
    (void)is_usable;
    (void)start;
    return false;
}

#endif

#endif
