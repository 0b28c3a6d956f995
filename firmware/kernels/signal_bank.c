#include <stddef.h>
#include <string.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"

#define GAINS 125 /* entries of a table of gains */
#define POINTS 129
#define RATIO_BITS 12
#define GAINED_BITS 6
#define LOG_BITS 16
#define SEGMENT_BITS 9 /* of the places in a segment of the table of logarithms */
#define LN_2 45426u    /* in 2**-16 */

/** Requires as many numbers as there are channels. */
KIWICHA_SMALL static void require_channels(struct kiwicha_check *check,
                                           const struct kiwicha_ref *ref, uint32_t channels,
                                           uint32_t bytes)
{
    kiwicha_require_source(check, ref, kiwicha_saturating_multiply(channels, bytes), bytes);
}

KIWICHA_SMALL static void require_written(struct kiwicha_check *check,
                                          const struct kiwicha_ref *ref, uint32_t channels,
                                          uint32_t bytes)
{
    kiwicha_require_target(check, ref, kiwicha_saturating_multiply(channels, bytes), bytes);
}

/** Returns the bits up to the highest one that is set, of a number that is not 0. */
KIWICHA_SPECIALIZED uint32_t bit_length(uint32_t x)
{
    uint32_t bits = 1;
#pragma GCC unroll 1
    for (uint32_t step = 16; step > 0; step /= 2) {
        if (x >> step != 0) {
            x >>= step;
            bits += step;
        }
    }
    return bits;
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_signal_filter_bank(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_signal_filter_bank *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require(&check, p->channels < UINT16_MAX);
    require_channels(&check, &p->input, p->size, sizeof(uint32_t));
    require_channels(&check, &p->weights, p->weight_count, sizeof(int16_t));
    require_channels(&check, &p->unweights, p->weight_count, sizeof(int16_t));
    kiwicha_require_source(&check, &p->bands, (p->channels + 1) * 3 * (uint32_t)sizeof(uint16_t),
                           sizeof(uint16_t));
    require_written(&check, &p->output, p->channels, sizeof(uint64_t));
    return check.status;
}

/** SignalFilterBank. */
enum kiwicha_status kiwicha_run_signal_filter_bank(const struct kiwicha_memory *memory,
                                                   const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_filter_bank *p = params;
    const uint32_t *input = kiwicha_source(memory, &p->input);
    const uint16_t *weights = kiwicha_source(memory, &p->weights);
    const uint16_t *unweights = kiwicha_source(memory, &p->unweights);
    const uint16_t *bands = kiwicha_source(memory, &p->bands);
    uint64_t *output = kiwicha_target(memory, &p->output);
    uint64_t rest = 0;
    for (uint32_t channel = 0; channel <= p->channels; channel++) {
        const uint32_t frequency = bands[0], weight = bands[1], count = bands[2];
        if (frequency + count > p->size || weight + count > p->weight_count) {
            return KIWICHA_STATUS_BAD_VALUE;
        }
        uint64_t found = rest;
        rest = 0;
        for (uint32_t k = 0; k < count; k++) {
            const uint64_t energy = input[frequency + k];
            found += energy * weights[weight + k];
            rest += energy * unweights[weight + k];
        }
        if (channel > 0) {
            *output++ = found;
        }
        bands += 3;
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_signal_square_root(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_signal_square_root *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_channels(&check, &p->input, p->channels, sizeof(uint64_t));
    kiwicha_require_source(&check, &p->bits, sizeof(int32_t), sizeof(int32_t));
    require_written(&check, &p->output, p->channels, sizeof(uint32_t));
    return check.status;
}

/** Returns the root of a number of 32 bits, rounded down, and what is left of the number. */
static uint32_t short_root(uint32_t number, uint32_t *rest)
{
    uint32_t root = 0;
    uint32_t bit = number == 0 ? 0 : UINT32_C(1) << ((bit_length(number) - 1) & ~UINT32_C(1));
    for (; bit != 0; bit >>= 2) {
        const uint32_t tried = root + bit;
        root >>= 1;
        if (number >= tried) {
            number -= tried;
            root += bit;
        }
    }
    *rest = number;
    return root;
}

/** Returns the rounded root: a root of its upper bits first, then a bit at a time. */
static uint32_t root_of(uint64_t number)
{
    const uint32_t high = (uint32_t)(number >> 32);
    if (high == 0) {
        uint32_t rest;
        const uint32_t root = short_root((uint32_t)number, &rest);
        return root + (rest > root && root != UINT16_MAX);
    }
    uint32_t rest;
    uint32_t root = short_root(high, &rest);
    uint32_t low = (uint32_t)number;
    uint32_t left = 16;
    /* As long as it fits 32 bits, with the two bits that come to it. */
    for (; left > 0 && rest <= UINT32_MAX >> 2; left--) {
        const uint32_t next = rest << 2 | low >> 30, tried = 4 * root + 1;
        const bool is_more = next >= tried;
        low <<= 2;
        rest = is_more ? next - tried : next;
        root = 2 * root + is_more;
    }
    uint64_t wide = rest;
    for (; left > 0; left--) {
        const uint64_t next = wide << 2 | low >> 30, tried = 4 * (uint64_t)root + 1;
        const bool is_more = next >= tried;
        low <<= 2;
        wide = is_more ? next - tried : next;
        root = 2 * root + is_more;
    }
    return root + (wide > root && root != UINT32_MAX);
}

/** SignalFilterBankSquareRoot. */
enum kiwicha_status kiwicha_run_signal_square_root(const struct kiwicha_memory *memory,
                                                   const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_square_root *p = params;
    const uint64_t *input = kiwicha_source(memory, &p->input);
    const int32_t *bits = kiwicha_source(memory, &p->bits);
    uint32_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t k = 0; k < p->channels; k++) {
        output[k] = root_of(input[k]) >> (uint32_t)*bits % 32;
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_signal_subtraction(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_signal_subtraction *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_channels(&check, &p->input, p->channels, sizeof(uint32_t));
    require_written(&check, &p->noise, p->channels, sizeof(uint32_t));
    require_written(&check, &p->output, p->channels, sizeof(uint32_t));
    kiwicha_require(&check, p->noise_bits <= 31 && p->fraction_bits <= 63 && p->is_clamped <= 1);
    return check.status;
}

/** SignalFilterBankSpectralSubtraction. */
enum kiwicha_status kiwicha_run_signal_subtraction(const struct kiwicha_memory *memory,
                                                   const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_subtraction *p = params;
    const uint32_t *input = kiwicha_source(memory, &p->input);
    uint32_t *noise = kiwicha_target(memory, &p->noise);
    uint32_t *output = kiwicha_target(memory, &p->output);
    const uint32_t bits = p->noise_bits, fraction_bits = p->fraction_bits;
    for (uint32_t k = 0; k < p->channels; k++) {
        const uint32_t signal = input[k], fine = signal << bits;
        const uint64_t total =
            (uint64_t)fine * p->newest[k % 2] + (uint64_t)noise[k] * p->rest[k % 2];
        uint32_t estimate = (uint32_t)(total >> fraction_bits);
        if (!p->is_clamped) {
            noise[k] = estimate;
        }
        if (estimate > fine) {
            estimate = fine;
        }
        if (p->is_clamped) {
            noise[k] = estimate;
        }
        const uint32_t least = (uint32_t)((uint64_t)signal * p->least >> fraction_bits);
        const uint32_t clean = (fine - estimate) >> bits;
        output[k] = clean > least ? clean : least;
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_pcan(const struct kiwicha_memory *memory,
                                                            const void *params)
{
    const struct kiwicha_signal_gain *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_channels(&check, &p->input, p->channels, sizeof(uint32_t));
    require_channels(&check, &p->noise, p->channels, sizeof(uint32_t));
    require_channels(&check, &p->gains, GAINS, sizeof(int16_t));
    require_written(&check, &p->output, p->channels, sizeof(uint32_t));
    kiwicha_require(&check, p->shift <= 63);
    return check.status;
}

/** Returns the gain for a noise. */
static int16_t gain_for(const int16_t *gains, uint32_t noise)
{
    if (noise <= 2) {
        return gains[noise];
    }
    const uint32_t bits = bit_length(noise);
    const int16_t *part = gains + (4 * bits - 6);
    const uint32_t place =
        (bits < 11 ? noise << (11 - bits) : noise >> (bits - 11)) & UINT32_C(0x3ff);
    const uint32_t bend = (uint32_t)(part[2] * (int32_t)place >> 5);
    const uint32_t total = (bend + ((uint32_t)part[1] << 5)) * place + (UINT32_C(1) << 14);
    return (int16_t)(((int32_t)total >> 15) + part[0]);
}

/** SignalPCAN. */
enum kiwicha_status kiwicha_run_signal_pcan(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_gain *p = params;
    const uint32_t *input = kiwicha_source(memory, &p->input);
    const uint32_t *noise = kiwicha_source(memory, &p->noise);
    const int16_t *gains = kiwicha_source(memory, &p->gains);
    uint32_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t k = 0; k < p->channels; k++) {
        const uint32_t gain = (uint32_t)gain_for(gains, noise[k]);
        const uint32_t ratio = (uint32_t)((uint64_t)input[k] * gain >> p->shift);
        output[k] = ratio < UINT32_C(2) << RATIO_BITS
                        ? ratio * ratio >> (2 + 2 * RATIO_BITS - GAINED_BITS)
                        : (ratio >> (RATIO_BITS - GAINED_BITS)) - (1 << GAINED_BITS);
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_log(const struct kiwicha_memory *memory,
                                                           const void *params)
{
    const struct kiwicha_signal_log *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_channels(&check, &p->input, p->channels, sizeof(uint32_t));
    require_channels(&check, &p->points, POINTS, sizeof(uint16_t));
    require_written(&check, &p->output, p->channels, sizeof(int16_t));
    kiwicha_require(&check, p->shift <= 31);
    return check.status;
}

/** Returns the natural logarithm of a number above 0, in 2**-16. */
static uint32_t logarithm(uint32_t x, const uint16_t *points)
{
    const uint32_t whole = bit_length(x) - 1;
    const uint32_t rest = x - (UINT32_C(1) << whole);
    const uint32_t fraction =
        whole < LOG_BITS ? rest << (LOG_BITS - whole) : rest >> (whole - LOG_BITS);
    const uint32_t segment = fraction >> SEGMENT_BITS;
    const int32_t place = (int32_t)(fraction & ((UINT32_C(1) << SEGMENT_BITS) - 1));
    const int32_t bend = (points[segment + 1] - points[segment]) * place >> LOG_BITS;
    const uint32_t binary = (whole << LOG_BITS) + fraction + points[segment] + (uint32_t)bend;
    return (uint32_t)(((uint64_t)LN_2 * binary + (UINT32_C(1) << (LOG_BITS - 1))) >> LOG_BITS);
}

/** SignalFilterBankLog. */
enum kiwicha_status kiwicha_run_signal_log(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_log *p = params;
    const uint32_t *input = kiwicha_source(memory, &p->input);
    const uint16_t *points = kiwicha_source(memory, &p->points);
    int16_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t k = 0; k < p->channels; k++) {
        const uint32_t x = input[k] << p->shift;
        uint32_t scaled = 0;
        if (x > 1) {
            scaled = p->scale * logarithm(x, points) + (UINT32_C(1) << (LOG_BITS - 1));
            scaled >>= LOG_BITS;
        }
        output[k] = (int16_t)(scaled < INT16_MAX ? scaled : INT16_MAX);
    }
    return KIWICHA_STATUS_OK;
}
