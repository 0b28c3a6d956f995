#include <stddef.h>
#include <string.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"
#if KIWICHA_CONFIG_HAS_SIGNAL
#include "signal_unit.h"
#endif

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
#if KIWICHA_CONFIG_HAS_SIGNAL
    return kiwicha_unit_bit_length(x);
#else
    return 32 - (uint32_t)__builtin_clz(x);
#endif
}

KIWICHA_SPECIALIZED uint32_t high_word(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

/** Returns the low word of a number that is shifted down by at most 63: a library does it slower.
 */
KIWICHA_SPECIALIZED uint32_t shifted(uint64_t number, uint32_t shift)
{
    const uint32_t high = (uint32_t)(number >> 32);
    if (shift >= 32) {
        return high >> (shift - 32);
    }
    return (high << 1) << (31 - shift) | (uint32_t)number >> shift;
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

/** One over the root of v, 1/4 to 1: START - v * (SLOPE - v * BEND) is off by at most 2.5 %. */
#define START 2867788716u /* these are in 2**-30 */
#define SLOPE 3527625916u
#define BEND 1759398306u
#define NEWTON_STEPS 2

/**
 * Returns the rounded root, without a division.
 *
 * Each of Newton's steps squares the error of one over the root, and so does the last one for the
 * root itself: it is off by 1 at most. The result is right whatever is off before.
 */
static uint32_t root_of(uint64_t number)
{
    if (number == 0) {
        return 0;
    }
    const uint32_t high = (uint32_t)(number >> 32), low = (uint32_t)number;
    const uint32_t zeros = high != 0 ? 32 - bit_length(high) : 64 - bit_length(low);
    const uint32_t shift = zeros & ~UINT32_C(1);
    uint32_t v = low << shift % 32, rest_of_v = 0;
    if (shift < 32) {
        rest_of_v = v;
        v = high << shift | (low >> 1) >> (31 - shift);
    }
    uint32_t inverse = START - high_word(v, SLOPE - high_word(v, BEND));
    for (uint32_t step = 0; step < NEWTON_STEPS; step++) {
        const uint32_t square = high_word(v, high_word(inverse, inverse));
        inverse = high_word(inverse, ((UINT32_C(3) << 28) - square) << 2) << 1;
    }
    const uint32_t near = high_word(v, inverse) << 2;
    const int64_t more = (int64_t)(((uint64_t)v << 32 | rest_of_v) - (uint64_t)near * near);
    const int32_t step = (int32_t)((int64_t)(int32_t)(more >> 15) * inverse >> 32) >> 16;
    uint32_t root = (near + (uint32_t)step) >> shift / 2;
    int64_t rest = (int64_t)(number - (uint64_t)root * root);
    while (rest < 0) {
        root--;
        rest += 2 * (int64_t)root + 1;
    }
    while (rest > 2 * (int64_t)root) {
        rest -= 2 * (int64_t)root + 1;
        root++;
    }
    const uint32_t most = high == 0 ? UINT16_MAX : UINT32_MAX;
    return root + (rest > root && root != most);
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
    /* In registers: parameters may lie where a tensor does in the data cache. */
    const uint32_t channels = p->channels, bits = p->noise_bits, fraction_bits = p->fraction_bits;
    const uint32_t remaining = p->least, is_clamped = p->is_clamped;
    uint32_t newest = p->newest[0], next_newest = p->newest[1];
    uint32_t rest = p->rest[0], next_rest = p->rest[1];
    for (uint32_t k = 0; k < channels; k++) {
        const uint32_t signal = input[k], fine = signal << bits;
        const uint64_t total = (uint64_t)fine * newest + (uint64_t)noise[k] * rest;
        uint32_t estimate = shifted(total, fraction_bits);
        const uint32_t unclamped = estimate;
        if (estimate > fine) {
            estimate = fine;
        }
        noise[k] = is_clamped ? estimate : unclamped;
        const uint32_t least = shifted((uint64_t)signal * remaining, fraction_bits);
        const uint32_t clean = (fine - estimate) >> bits;
        output[k] = clean > least ? clean : least;
        /* Weights of odd channels follow those of even ones. */
        const uint32_t last_newest = newest, last_rest = rest;
        newest = next_newest;
        rest = next_rest;
        next_newest = last_newest;
        next_rest = last_rest;
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
        const uint32_t ratio = shifted((uint64_t)input[k] * gain, p->shift);
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
