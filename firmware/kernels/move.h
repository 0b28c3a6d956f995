/* Copies whose two places a damaged Program can let overlap. */
#ifndef KIWICHA_MOVE_H
#define KIWICHA_MOVE_H

#include <stdint.h>
#include <string.h>

/** Copies bytes, word by word as memcpy does where source and target do not overlap. */
static inline void kiwicha_move(void *to, const void *from, uint32_t bytes)
{
    const uintptr_t ahead = (uintptr_t)to - (uintptr_t)from;
    if (ahead < bytes || (uintptr_t)0 - ahead < bytes) {
        memmove(to, from, bytes);
    } else {
        memcpy(to, from, bytes);
    }
}

/** Copies bytes whose places are apart in good Programs; in damaged ones the target gets any bytes
 * where they overlap, and nothing else changes. */
static inline void kiwicha_copy_apart(void *to, const void *from, uint32_t bytes)
{
#ifdef KIWICHA_MEMCPY_MAY_OVERLAP
    memcpy(to, from, bytes);
#else
    kiwicha_move(to, from, bytes);
#endif
}

#endif
