#include "platform.h"

#include <time.h>

uint32_t kiwicha_platform_cycles(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint32_t)now.tv_sec * 1000000000u + (uint32_t)now.tv_nsec;
}
