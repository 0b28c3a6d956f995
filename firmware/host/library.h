/** What callers need to know of the runtime that are not written in C. */
#ifndef KIWICHA_HOST_LIBRARY_H
#define KIWICHA_HOST_LIBRARY_H

#include <stdint.h>

/** Returns the bytes of a `struct kiwicha_model`. */
uint32_t kiwicha_model_bytes(void);

#endif
