/** The largest byte of a row. */
#ifndef KIWICHA_MAXIMUM_H
#define KIWICHA_MAXIMUM_H

#include <stdint.h>

/**
 * Returns the largest int8 of a row after bits are exchanged; INT8_MIN if it has none.
 *
 * @param flip exchanges the bits that it has in bytes: -1 or 0
 */
int32_t kiwicha_maximum(const int8_t *input, uint32_t depth, int32_t flip);

#endif
