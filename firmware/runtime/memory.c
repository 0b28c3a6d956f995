/* The memory functions that compilers call on their own; freestanding builds have no libc. */
#include <stddef.h>
#include <stdint.h>

/* Some compilers recognise the loops below and would turn each into a call of itself. */
#if defined(__clang__)
#define KIWICHA_KEEP_LOOP __attribute__((no_builtin))
#else
#define KIWICHA_KEEP_LOOP __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

typedef uint32_t __attribute__((may_alias)) word;

void *memcpy(void *restrict target, const void *restrict source, size_t bytes);
void *memmove(void *target, const void *source, size_t bytes);
void *memset(void *target, int value, size_t bytes);

KIWICHA_KEEP_LOOP void *memcpy(void *restrict target, const void *restrict source, size_t bytes)
{
    uint8_t *to = target;
    const uint8_t *from = source;
    /* A store takes as long for a byte as for a word. */
    for (; bytes > 0 && ((uintptr_t)to & 3) != 0; bytes--) {
        *to++ = *from++;
    }
    const uint32_t shift = ((uintptr_t)from & 3) * 8;
    if (shift == 0) {
        for (; bytes >= 4; bytes -= 4, to += 4, from += 4) {
            *(word *)(void *)to = *(const word *)(const void *)from;
        }
    } else if (bytes >= 4) {
        /* Words that hold a byte of the source, from the one with its first byte on. */
        const word *next = (const word *)(const void *)(from - shift / 8);
        uint32_t low = *next++;
        for (; bytes >= 4; bytes -= 4, to += 4, from += 4) {
            const uint32_t high = *next++;
            *(word *)(void *)to = low >> shift | high << (32 - shift);
            low = high;
        }
    }
    for (; bytes > 0; bytes--) {
        *to++ = *from++;
    }
    return target;
}

KIWICHA_KEEP_LOOP void *memmove(void *target, const void *source, size_t bytes)
{
    uint8_t *to = target;
    const uint8_t *from = source;
    if ((uintptr_t)to <= (uintptr_t)from) {
        for (size_t k = 0; k < bytes; k++) {
            to[k] = from[k];
        }
    } else {
        for (size_t k = bytes; k > 0; k--) {
            to[k - 1] = from[k - 1];
        }
    }
    return target;
}

KIWICHA_KEEP_LOOP void *memset(void *target, int value, size_t bytes)
{
    uint8_t *to = target;
    for (; bytes > 0 && ((uintptr_t)to & 3) != 0; bytes--) {
        *to++ = (uint8_t)value;
    }
    uint32_t four = (uint8_t)value * 0x01010101u;
    for (; bytes >= 4; bytes -= 4, to += 4) {
        *(word *)(void *)to = four;
    }
    for (; bytes > 0; bytes--) {
        *to++ = (uint8_t)value;
    }
    return target;
}
