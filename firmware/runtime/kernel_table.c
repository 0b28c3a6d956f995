#include "kernel_table.h"

#include <stddef.h>

#include "../kernels/kernels.h"

/* Weak: of an archive linkers take the kernels that the models' sources name, and the table has
 * gaps in place of the others. A program without models' sources says that it wants all. */
#if defined(__ELF__) && !defined(KIWICHA_ALL_KERNELS)
#define DECLARE_WEAK(number, params, check, run)                                                   \
    kiwicha_kernel_function __attribute__((weak)) kiwicha_check_##check, kiwicha_run_##run;
KIWICHA_LINKED_KERNELS(DECLARE_WEAK)
#endif

#define ENTRY(number, params, check, run)                                                          \
    [KIWICHA_KERNEL_##number] = {sizeof(struct kiwicha_##params), kiwicha_check_##check,           \
                                 kiwicha_run_##run},

/* By number, with gaps: a search would read the whole table, which is not in the cache when a list
 * of the engine has ended. */
static const struct kiwicha_kernel_entry table[] = {KIWICHA_LINKED_KERNELS(ENTRY)};

const struct kiwicha_kernel_entry *kiwicha_find_kernel(uint32_t kernel)
{
    const size_t count = sizeof(table) / sizeof(table[0]);
    return kernel < count && table[kernel].run != NULL ? &table[kernel] : NULL;
}
