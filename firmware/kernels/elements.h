/** Elements of the integer types, as numbers of 64 bits. */
#ifndef KIWICHA_ELEMENTS_H
#define KIWICHA_ELEMENTS_H

#include <stdint.h>

#include "kiwicha_isa.h"

/** Marks functions with arguments that are constants where they are called. */
#define KIWICHA_SPECIALIZED static inline __attribute__((always_inline))

/** Returns the bytes of an element of an integer type or a boolean; 0 if it is none. */
KIWICHA_SPECIALIZED uint32_t kiwicha_integer_bytes(uint32_t dtype)
{
    switch (dtype) {
    case KIWICHA_DTYPE_INT8:
    case KIWICHA_DTYPE_UINT8:
    case KIWICHA_DTYPE_BOOL:
        return 1;
    case KIWICHA_DTYPE_INT16:
        return 2;
    case KIWICHA_DTYPE_INT32:
    case KIWICHA_DTYPE_UINT32:
        return 4;
    case KIWICHA_DTYPE_INT64:
        return 8;
    default:
        return 0;
    }
}

/** Returns an element of a tensor of signed integers of 1, 2, 4 or 8 bytes. */
KIWICHA_SPECIALIZED int64_t kiwicha_read_integer(const void *tensor, uint32_t index, uint32_t bytes)
{
    switch (bytes) {
    case 8:
        return ((const int64_t *)tensor)[index];
    case 4:
        return ((const int32_t *)tensor)[index];
    case 2:
        return ((const int16_t *)tensor)[index];
    default:
        return ((const int8_t *)tensor)[index];
    }
}

/** Writes the low bits of a number to an element of 1, 2, 4 or 8 bytes. */
KIWICHA_SPECIALIZED void kiwicha_write_integer(void *tensor, uint32_t index, uint32_t bytes,
                                               int64_t value)
{
    switch (bytes) {
    case 8:
        ((int64_t *)tensor)[index] = value;
        break;
    case 4:
        ((int32_t *)tensor)[index] = (int32_t)value;
        break;
    case 2:
        ((int16_t *)tensor)[index] = (int16_t)value;
        break;
    default:
        ((int8_t *)tensor)[index] = (int8_t)value;
    }
}

/** Returns a - b, wrapped around. */
KIWICHA_SPECIALIZED int64_t kiwicha_wrapping_difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/** Returns a + b, wrapped around. */
KIWICHA_SPECIALIZED int64_t kiwicha_wrapping_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

#endif
