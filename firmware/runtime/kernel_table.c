#include "kernel_table.h"

#include <stddef.h>

#include "../kernels/kernels.h"

#define ENTRY(number, params, check, run)                                                          \
    {KIWICHA_KERNEL_##number, sizeof(struct kiwicha_##params), kiwicha_check_##check,              \
     kiwicha_run_##run},

static const struct kiwicha_kernel_entry table[] = {KIWICHA_KERNELS(ENTRY)};

const struct kiwicha_kernel_entry *kiwicha_find_kernel(uint32_t kernel)
{
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        if (table[k].kernel == kernel) {
            return &table[k];
        }
    }
    return NULL;
}
