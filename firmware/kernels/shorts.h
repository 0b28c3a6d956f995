/** Checks of kernels whose tensors are int16: those for int8 hold, of half as many bytes. */
#ifndef KIWICHA_SHORTS_H
#define KIWICHA_SHORTS_H

#include <stdint.h>

#include "check.h"

/** Returns a reference with the bytes that int8 would have. */
static inline struct kiwicha_ref kiwicha_as_bytes(struct kiwicha_ref ref)
{
    ref.bytes /= sizeof(int16_t);
    return ref;
}

/** Requires int16 that a kernel reads, whose number a check of `kiwicha_as_bytes` has found. */
static inline void kiwicha_require_shorts(struct kiwicha_check *check,
                                          const struct kiwicha_ref *ref)
{
    kiwicha_require_source(check, ref, ref->bytes & ~1u, sizeof(int16_t));
}

/** Requires an output of int16 like `kiwicha_require_shorts`, with its clamp, the least first. */
static inline void kiwicha_require_short_output(struct kiwicha_check *check,
                                                const struct kiwicha_ref *ref,
                                                int32_t activation_min, int32_t activation_max)
{
    kiwicha_require_target(check, ref, ref->bytes & ~1u, sizeof(int16_t));
    kiwicha_require_range(check, activation_min, INT16_MIN, INT16_MAX);
    kiwicha_require_range(check, activation_max, activation_min, INT16_MAX);
}

#endif
