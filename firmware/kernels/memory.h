/** Where a Program's tensors and constants are. */
#ifndef KIWICHA_MEMORY_H
#define KIWICHA_MEMORY_H

#include <stdint.h>

#include "kiwicha_isa.h"

/** The two ranges of bytes that a `kiwicha_ref` can point into. */
struct kiwicha_memory {
    const uint8_t *program;    /**< first byte of the Program, 16-byte aligned */
    uint32_t constants_offset; /**< first byte that a constant may occupy */
    uint32_t constants_end;    /**< first byte after the constants */
    uint8_t *arena;            /**< first byte of the arena of an inference, 16-byte aligned */
    uint32_t arena_bytes;      /**< size that an inference uses of it */
};

/** Four int8 as the instruction tier sees them; element 0 is the least significant byte. */
typedef uint32_t __attribute__((may_alias)) kiwicha_word;

/** Returns the first byte of a checked tensor or constant, for reading. */
static inline const void *kiwicha_source(const struct kiwicha_memory *memory,
                                         const struct kiwicha_ref *ref)
{
    uint32_t offset = ref->offset & ~KIWICHA_REF_CONSTANT_BIT;
    return (ref->offset & KIWICHA_REF_CONSTANT_BIT) != 0 ? memory->program + offset
                                                         : memory->arena + offset;
}

/** Returns the first byte of a checked tensor in the arena, for writing. */
static inline void *kiwicha_target(const struct kiwicha_memory *memory,
                                   const struct kiwicha_ref *ref)
{
    return memory->arena + ref->offset;
}

#endif
