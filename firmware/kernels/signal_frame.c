#include <stddef.h>
#include <string.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"
#include "short_pairs.h"
#include "signal_samples.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_taper(const struct kiwicha_memory *memory,
                                                             const void *params)
{
    const struct kiwicha_signal_taper *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = kiwicha_short_bytes(p->rows, p->size);
    kiwicha_require_source(&check, &p->input, bytes, sizeof(int16_t));
    kiwicha_require_source(&check, &p->weights, kiwicha_short_bytes(1, p->size), sizeof(int16_t));
    kiwicha_require_target(&check, &p->output, bytes, sizeof(int16_t));
    kiwicha_require(&check, p->shift <= 31);
    return check.status;
}

KIWICHA_SPECIALIZED bool is_aligned(const void *at)
{
    return (uintptr_t)at % sizeof(kiwicha_word) == 0;
}

/** SignalWindow. */
enum kiwicha_status kiwicha_run_signal_taper(const struct kiwicha_memory *memory,
                                             const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_taper *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    const int16_t *weights = kiwicha_source(memory, &p->weights);
    int16_t *output = kiwicha_target(memory, &p->output);
    const uint32_t shift = p->shift, size = p->size;
    for (uint32_t row = 0; row < p->rows; row++) {
        uint32_t k = 0;
        if (is_aligned(output)) {
#pragma GCC unroll 4
            for (; k + 1 < size; k += 2) {
                const int32_t first = input[k] * weights[k] >> shift;
                const int32_t second = input[k + 1] * weights[k + 1] >> shift;
                kiwicha_store_shorts(output + k, kiwicha_clipped_sample(first),
                                     kiwicha_clipped_sample(second));
            }
        }
        for (; k < size; k++) {
            output[k] = (int16_t)kiwicha_clipped_sample(input[k] * weights[k] >> shift);
        }
        input += size;
        output += size;
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_signal_scale_bits(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_signal_scale_bits *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_source(&check, &p->input, kiwicha_short_bytes(1, p->size), sizeof(int16_t));
    kiwicha_require_target(&check, &p->output, sizeof(int32_t), sizeof(int32_t));
    return check.status;
}

/** Returns the largest magnitude as the interpreter finds it. */
static int32_t odd_magnitude(const int16_t *input, uint32_t size)
{
    int32_t most = 0;
    for (uint32_t k = 0; k < size; k++) {
        most = kiwicha_odd_magnitude(most, input[k]);
    }
    return most;
}

/** Returns a number with as many bits as the largest magnitude has, or none above 0. */
static int32_t magnitude(const int16_t *input, uint32_t size)
{
    int32_t bits = 0;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < size; k++) {
        const int32_t sample = input[k], sign = sample >> 31;
        bits |= (sample ^ sign) - sign;
    }
    return bits <= INT16_MAX ? bits : odd_magnitude(input, size);
}

/** SignalFftAutoScale: the bits. */
enum kiwicha_status kiwicha_run_signal_scale_bits(const struct kiwicha_memory *memory,
                                                  const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_scale_bits *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    int32_t *output = kiwicha_target(memory, &p->output);
    *output = kiwicha_scale_bits(magnitude(input, p->size));
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_scale(const struct kiwicha_memory *memory,
                                                             const void *params)
{
    const struct kiwicha_signal_scale *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = kiwicha_short_bytes(1, p->size);
    kiwicha_require_source(&check, &p->input, bytes, sizeof(int16_t));
    kiwicha_require_source(&check, &p->bits, sizeof(int32_t), sizeof(int32_t));
    kiwicha_require_target(&check, &p->output, bytes, sizeof(int16_t));
    return check.status;
}

/** SignalFftAutoScale: the samples. */
enum kiwicha_status kiwicha_run_signal_scale(const struct kiwicha_memory *memory,
                                             const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_scale *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    const int32_t *given = kiwicha_source(memory, &p->bits);
    int16_t *output = kiwicha_target(memory, &p->output);
    const uint32_t bits = (uint32_t)*given % 32, size = p->size;
    uint32_t k = 0;
    if (is_aligned(input) && is_aligned(output)) {
        const uint32_t mask = (uint32_t)UINT16_MAX << 16 << bits | UINT16_MAX;
#pragma GCC unroll 4
        for (; k + 1 < size; k += 2) {
            const uint32_t both = *(const kiwicha_word *)(const void *)(input + k);
            *(kiwicha_word *)(void *)(output + k) = both << bits & mask;
        }
    }
    for (; k < size; k++) {
        output[k] = (int16_t)((uint32_t)input[k] << bits);
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_energy(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    const struct kiwicha_signal_energy *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require(&check, p->first <= p->end && p->end <= p->size);
    kiwicha_require_source(&check, &p->input, kiwicha_short_bytes(2, p->size), sizeof(int16_t));
    kiwicha_require_target(&check, &p->output,
                           kiwicha_saturating_multiply(p->size, sizeof(uint32_t)),
                           sizeof(uint32_t));
    return check.status;
}

/** SignalEnergy. */
enum kiwicha_status kiwicha_run_signal_energy(const struct kiwicha_memory *memory,
                                              const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_energy *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    uint32_t *output = kiwicha_target(memory, &p->output);
    memset(output, 0, p->first * sizeof(*output));
    memset(output + p->end, 0, (p->size - p->end) * sizeof(*output));
    for (uint32_t k = p->first; k < p->end; k++) {
        const int32_t re = input[2 * k], im = input[2 * k + 1];
        output[k] = (uint32_t)(re * re) + (uint32_t)(im * im);
    }
    return KIWICHA_STATUS_OK;
}
