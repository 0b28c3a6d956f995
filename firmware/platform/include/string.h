/**
 * @file
 * The part of the C library's <string.h> that firmware may use; the runtime
 * defines it.
 */
#ifndef KIWICHA_STRING_H
#define KIWICHA_STRING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** memcpy is runtime/memory.c: where both places overlap it writes nothing but its target. */
#define KIWICHA_MEMCPY_MAY_OVERLAP 1

void *memcpy(void *__restrict to, const void *__restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
