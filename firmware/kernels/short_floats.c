#include <stddef.h>
#include <string.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"
#include "requantize.h"

#define SIGN UINT32_C(0x80000000)
#define INFINITE UINT32_C(0x7f800000)
#define FRACTION_BITS 23
#define OF_A_HALF 126u         /* exponent of 0.5 */
#define BEYOND (1u << 16)      /* with any zero point of 16 bits it saturates */
#define OF_BEYOND (127u + 16u) /* its exponent */

/** Requires elements, and the bits of a scale that is finite and more than 0. */
KIWICHA_SMALL static void require_scaled(struct kiwicha_check *check,
                                         const struct kiwicha_ref *input, uint32_t input_bytes,
                                         const struct kiwicha_ref *output, uint32_t output_bytes,
                                         uint32_t count, uint32_t scale)
{
    kiwicha_require_source(check, input, kiwicha_saturating_multiply(count, input_bytes),
                           input_bytes);
    kiwicha_require_target(check, output, kiwicha_saturating_multiply(count, output_bytes),
                           output_bytes);
    kiwicha_require(check, scale > 0 && scale < INFINITE);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_short_quantize(const struct kiwicha_memory *memory,
                                                               const void *params)
{
    const struct kiwicha_short_quantize *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_scaled(&check, &p->input, sizeof(float), &p->output, sizeof(int16_t), p->count,
                   p->scale);
    kiwicha_require_range(&check, p->output_offset, INT16_MIN, INT16_MAX);
    return check.status;
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_short_dequantize(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_short_dequantize *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_scaled(&check, &p->input, sizeof(int16_t), &p->output, sizeof(float), p->count,
                   p->scale);
    kiwicha_require_range(&check, p->input_offset, -INT16_MAX, -INT16_MIN);
    return check.status;
}

static float number_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

static uint32_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

/** Returns the integer that is next to a quotient, halves away from zero, or one beyond 16 bits. */
static int32_t nearest(uint32_t bits, float scale)
{
    uint32_t magnitude = BEYOND;
    if ((bits & ~SIGN) < INFINITE) {
        const uint32_t quotient = bits_of(number_of(bits) / scale) & ~SIGN;
        const uint32_t exponent = quotient >> FRACTION_BITS;
        if (exponent < OF_A_HALF) {
            return 0;
        }
        if (exponent < OF_BEYOND) {
            const uint32_t one = UINT32_C(1) << FRACTION_BITS, shift = OF_A_HALF + 24 - exponent;
            magnitude = ((quotient & (one - 1)) | one) + (UINT32_C(1) << (shift - 1));
            magnitude >>= shift;
        }
    }
    return bits & SIGN ? -(int32_t)magnitude : (int32_t)magnitude;
}

/** QUANTIZE of float32 to int16. */
enum kiwicha_status kiwicha_run_short_quantize(const struct kiwicha_memory *memory,
                                               const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_short_quantize *p = params;
    const kiwicha_word *input = kiwicha_source(memory, &p->input);
    int16_t *output = kiwicha_target(memory, &p->output);
    const float scale = number_of(p->scale);
    for (uint32_t k = 0; k < p->count; k++) {
        const int32_t x = nearest(input[k], scale) + p->output_offset;
        output[k] = (int16_t)kiwicha_clamp(x, INT16_MIN, INT16_MAX);
    }
    return KIWICHA_STATUS_OK;
}

/** DEQUANTIZE of int16: the product has 41 bits, and is rounded once. */
enum kiwicha_status kiwicha_run_short_dequantize(const struct kiwicha_memory *memory,
                                                 const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_short_dequantize *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    float *output = kiwicha_target(memory, &p->output);
    const float scale = number_of(p->scale);
    for (uint32_t k = 0; k < p->count; k++) {
        output[k] = scale * (float)(input[k] + p->input_offset);
    }
    return KIWICHA_STATUS_OK;
}
