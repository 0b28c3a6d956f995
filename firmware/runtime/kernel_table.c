#include <stddef.h>

#include "../kernels/kernels.h"
#include "kernel_table.h"
#if KIWICHA_CONFIG_HAS_SIMD
#include "../kernels/simd_kernels.h"
#endif
#if KIWICHA_CONFIG_ENGINE_MACS
#include "../kernels/engine.h"
#endif

#define ENTRY(number, params, check, run)                                                          \
    {KIWICHA_KERNEL_##number, sizeof(struct params), kiwicha_check_##check, kiwicha_run_##run}

static const struct kiwicha_kernel_entry table[] = {
    ENTRY(CONV, kiwicha_conv, conv, conv),
    ENTRY(DEPTHWISE_CONV, kiwicha_conv, depthwise_conv, depthwise_conv),
    ENTRY(FULLY_CONNECTED, kiwicha_conv, fully_connected, fully_connected),
    ENTRY(AVERAGE_POOL, kiwicha_pool, pool, average_pool),
    ENTRY(MAX_POOL, kiwicha_pool, pool, max_pool),
    ENTRY(ADD, kiwicha_elementwise, elementwise, add),
    ENTRY(SUB, kiwicha_elementwise, elementwise, sub),
    ENTRY(MUL, kiwicha_elementwise, elementwise, mul),
    ENTRY(MEAN, kiwicha_mean, mean, mean),
    ENTRY(SOFTMAX, kiwicha_softmax, softmax, softmax),
    ENTRY(RESIZE_BILINEAR, kiwicha_resize_bilinear, resize_bilinear, resize_bilinear),
    ENTRY(TRANSPOSE_CONV, kiwicha_conv, conv, transpose_conv),
    ENTRY(LOOKUP, kiwicha_lookup, lookup, lookup),
    ENTRY(QUANTIZE, kiwicha_quantize, quantize, quantize),
    ENTRY(MINIMUM, kiwicha_elementwise, elementwise, minimum),
    ENTRY(MAXIMUM, kiwicha_elementwise, elementwise, maximum),
    ENTRY(PRELU, kiwicha_elementwise, elementwise, prelu),
    ENTRY(REDUCE_MAX, kiwicha_mean, mean, reduce_max),
    ENTRY(ARG_MAX, kiwicha_arg_max, arg_max, arg_max),
    ENTRY(CUSTOM, kiwicha_custom, custom, custom),
    ENTRY(COPY, kiwicha_copy, copy, copy),
#if KIWICHA_CONFIG_HAS_SIMD
    ENTRY(SIMD_CONV_1X1, kiwicha_conv, simd_conv_1x1, simd_conv_1x1),
    ENTRY(SIMD_CONV, kiwicha_conv, simd_conv, simd_conv),
    ENTRY(SIMD_DEPTHWISE_CONV, kiwicha_conv, simd_depthwise_conv, simd_depthwise_conv),
    ENTRY(SIMD_FULLY_CONNECTED, kiwicha_conv, simd_fully_connected, simd_fully_connected),
    ENTRY(SIMD_ADD, kiwicha_elementwise, simd_add, simd_add),
    ENTRY(SIMD_MAX_POOL, kiwicha_pool, simd_max_pool, simd_max_pool),
#endif
#if KIWICHA_CONFIG_ENGINE_MACS
    ENTRY(ENGINE, kiwicha_engine_call, engine, engine),
#endif
};

const struct kiwicha_kernel_entry *kiwicha_find_kernel(uint32_t kernel)
{
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        if (table[k].kernel == kernel) {
            return &table[k];
        }
    }
    return NULL;
}
