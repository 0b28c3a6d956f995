/* What a library with an engine needs of its machine, where no Program starts the engine. */
#include "platform.h"

void kiwicha_platform_drain_stores(void) {}

void kiwicha_platform_forget_cached(void) {}
