/* For LiteX's memory calibration, which includes it and uses nothing of it. */
#ifndef KIWICHA_BOOT_STDLIB_H
#define KIWICHA_BOOT_STDLIB_H

#include <stddef.h>

#endif
