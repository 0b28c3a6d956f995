#include "maximum.h"

#include "kiwicha_isa.h"
#include "memory.h"
#if KIWICHA_CONFIG_HAS_SIMD
#include "cfu.h"
#endif

#define LONG_ROW 12 /* from so many bytes on words are faster: some lie before the first */

int32_t kiwicha_maximum(const int8_t *input, uint32_t depth, int32_t flip)
{
    int32_t maximum = INT8_MIN;
    const int8_t *end = input + depth;
#if KIWICHA_CONFIG_HAS_SIMD
    if (depth >= LONG_ROW) {
        for (; ((uintptr_t)input & 3) != 0; input++) {
            const int32_t value = *input ^ flip;
            maximum = value > maximum ? value : maximum;
        }
        uint32_t largest = UINT32_C(0x80808080);
#pragma GCC unroll 2
        for (; end - input >= 4; input += 4) {
            const uint32_t word = *(const kiwicha_word *)(const void *)input;
            largest = kiwicha_cfu_max(largest, word ^ (uint32_t)flip);
        }
        for (uint32_t k = 0; k < 4; k++, largest >>= 8) {
            const int32_t value = (int8_t)largest;
            maximum = value > maximum ? value : maximum;
        }
    }
#endif
#pragma GCC unroll 1
    for (; input < end; input++) {
        const int32_t value = *input ^ flip;
        maximum = value > maximum ? value : maximum;
    }
    return maximum;
}
