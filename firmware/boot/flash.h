/**
 * @file
 * What lies in flash memory behind the bitstream.
 */
#ifndef KIWICHA_FLASH_H
#define KIWICHA_FLASH_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Copies it to memory.
 *
 * @param is_usable  whether it may write to a range of memory
 * @param start      receives where to begin, or KIWICHA_FLASH_NO_START
 * @return           whether all of it is there; if something is wrong with it, a line says what
 */
bool kiwicha_flash_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t *start);

#endif
