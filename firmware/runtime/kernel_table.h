/** The kernels of this firmware. */
#ifndef KIWICHA_KERNEL_TABLE_H
#define KIWICHA_KERNEL_TABLE_H

#include <stdint.h>

#include "../kernels/kernels.h"
#include "kiwicha_isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One kernel that a step can name. */
struct kiwicha_kernel_entry {
    uint32_t params_bytes; /**< size of its parameter structure */
    kiwicha_kernel_function *check;
    kiwicha_kernel_function *run;
};

/** Returns the entry of a kernel, or null if this firmware does not have it. */
const struct kiwicha_kernel_entry *kiwicha_find_kernel(uint32_t kernel);

#ifdef __cplusplus
}
#endif

#endif
