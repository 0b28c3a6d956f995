/**
 * @file
 * The image that the loader copies to memory at power-up, wherever it is stored.
 *
 * Inline, so that a system with one place has no calls by pointers.
 */
#ifndef KIWICHA_STORED_H
#define KIWICHA_STORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "frame.h"
#include "kiwicha_isa.h"
#include "machine.h"

/** Where an image can be. */
struct kiwicha_place {
    /** How a line about it begins. */
    const char *title;
    /** What is said if there is no image; NULL if that is as it should be. */
    const char *without_image;
    /** How large an image can be. */
    uint32_t space_bytes;
    /** Reads bytes of the image; returns what is wrong, or NULL. */
    const char *(*read)(uint8_t *to, uint32_t offset, uint32_t bytes);
};

/** Says what is wrong with a place; returns false. */
static inline bool kiwicha_stored_fails(const struct kiwicha_place *place, const char *what)
{
    kiwicha_platform_print(place->title);
    kiwicha_platform_print(what);
    kiwicha_platform_print("\n");
    return false;
}

/**
 * Copies an image to memory.
 *
 * @param place      where it is
 * @param is_usable  whether it may write to a range of memory
 * @param start      receives where to begin, or KIWICHA_FLASH_NO_START
 * @return           whether all of it is there; if something is wrong with it, a line says what
 */
static inline bool kiwicha_stored_load(const struct kiwicha_place *place,
                                       bool (*is_usable)(uint32_t address, uint32_t bytes),
                                       uint32_t *start)
{
    static struct {
        struct kiwicha_flash_header header;
        struct kiwicha_flash_record records[KIWICHA_FLASH_MOST_RECORDS];
    } said;
    /* Without the CRC, which the records follow. */
    static uint8_t covered[sizeof said];
    const uint32_t before_crc = offsetof(struct kiwicha_flash_header, crc);
    const uint32_t instruction_bytes = 4;
    const char *fault = place->read((uint8_t *)&said, 0, sizeof said);
    if (fault != NULL) {
        return kiwicha_stored_fails(place, fault);
    }
    if (said.header.magic != KIWICHA_FLASH_MAGIC) {
        return place->without_image != NULL && kiwicha_stored_fails(place, place->without_image);
    }
    if (said.header.version != KIWICHA_FLASH_VERSION || said.header.records == 0 ||
        said.header.records > KIWICHA_FLASH_MOST_RECORDS) {
        return kiwicha_stored_fails(place, "written by another version");
    }
    if (said.header.config_hash != KIWICHA_CONFIG_HASH) {
        return kiwicha_stored_fails(place, "for another configuration");
    }
    const uint32_t records_bytes = said.header.records * sizeof said.records[0];
    memcpy(covered, &said.header, before_crc);
    memcpy(covered + before_crc, said.records, records_bytes);
    if (kiwicha_crc32(covered, before_crc + records_bytes) != said.header.crc) {
        return kiwicha_stored_fails(place, "its table has changed");
    }
    for (uint32_t index = 0; index < said.header.records; ++index) {
        const struct kiwicha_flash_record *record = &said.records[index];
        uint8_t *to = (uint8_t *)(uintptr_t)record->address;
        if (record->bytes > place->space_bytes ||
            record->offset > place->space_bytes - record->bytes ||
            !is_usable(record->address, record->bytes)) {
            return kiwicha_stored_fails(place, "a piece lies outside the memory");
        }
        fault = place->read(to, record->offset, record->bytes);
        if (fault != NULL) {
            return kiwicha_stored_fails(place, fault);
        }
        if (kiwicha_crc32(to, record->bytes) != record->crc) {
            return kiwicha_stored_fails(place, "its bytes have changed");
        }
    }
    *start = said.header.start_address;
    if (*start != KIWICHA_FLASH_NO_START && !is_usable(*start, instruction_bytes)) {
        return kiwicha_stored_fails(place, "its program lies outside the memory");
    }
    return true;
}

#endif
