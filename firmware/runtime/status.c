/* What statuses mean, in words. */
#include <stddef.h>

#include "runtime.h"

enum { REASON_SHIFT = 16, RUNNING_BIT = 31 };

static const char unknown[] = "unknown";

const char *kiwicha_status_text(enum kiwicha_status status)
{
    switch (status) {
#define CASE(name, text)                                                                           \
    case KIWICHA_STATUS_##name:                                                                    \
        return text;
        KIWICHA_STATUS_TEXTS(CASE)
#undef CASE
    }
    return unknown;
}

#if KIWICHA_CONFIG_ENGINE_MACS
const char *kiwicha_engine_text(uint32_t engine_status)
{
    const uint32_t reason = (engine_status & ~(UINT32_C(1) << RUNNING_BIT)) >> REASON_SHIFT;
    switch ((enum kiwicha_engine_error)reason) {
#define CASE(name, text)                                                                           \
    case KIWICHA_ENGINE_ERROR_##name:                                                              \
        return text;
        KIWICHA_ENGINE_ERROR_TEXTS(CASE)
#undef CASE
    }
    return unknown;
}
#endif
