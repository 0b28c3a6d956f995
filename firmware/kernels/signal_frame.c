#include <stddef.h>
#include <string.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"

#define FRACTION_BITS 15
#define ONE INT16_MAX
#define MAX_HALF 16384u

KIWICHA_SMALL static uint32_t short_bytes(uint32_t rows, uint32_t size)
{
    const uint32_t sizes[] = {rows, size, sizeof(int16_t)};
    return kiwicha_saturating_product(sizes, 3);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_taper(const struct kiwicha_memory *memory,
                                                             const void *params)
{
    const struct kiwicha_signal_taper *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = short_bytes(p->rows, p->size);
    kiwicha_require_source(&check, &p->input, bytes, sizeof(int16_t));
    kiwicha_require_source(&check, &p->weights, short_bytes(1, p->size), sizeof(int16_t));
    kiwicha_require_target(&check, &p->output, bytes, sizeof(int16_t));
    kiwicha_require(&check, p->shift <= 31);
    return check.status;
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
    const uint32_t shift = p->shift;
    for (uint32_t row = 0; row < p->rows; row++) {
        for (uint32_t k = 0; k < p->size; k++) {
            const int32_t product = *input++ * weights[k] >> shift;
            *output++ = (int16_t)(product < INT16_MIN   ? INT16_MIN
                                  : product > INT16_MAX ? INT16_MAX
                                                        : product);
        }
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_signal_scale_bits(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_signal_scale_bits *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_source(&check, &p->input, short_bytes(1, p->size), sizeof(int16_t));
    kiwicha_require_target(&check, &p->output, sizeof(int32_t), sizeof(int32_t));
    return check.status;
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
    int32_t most = 0;
    for (uint32_t k = 0; k < p->size; k++) {
        const int32_t sample = input[k];
        if (sample > most) {
            most = sample;
        } else if (-sample > most) {
            /* Of -32768 it is that number again, as in the interpreter. */
            most = (int16_t)-sample;
        }
    }
    int32_t bits = 0;
    for (int32_t scaled = most; scaled > 0 && scaled <= INT16_MAX / 2; scaled *= 2) {
        bits++;
    }
    *output = bits;
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_scale(const struct kiwicha_memory *memory,
                                                             const void *params)
{
    const struct kiwicha_signal_scale *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = short_bytes(1, p->size);
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
    const uint32_t bits = (uint32_t)*given % 32;
    for (uint32_t k = 0; k < p->size; k++) {
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
    kiwicha_require_source(&check, &p->input, short_bytes(2, p->size), sizeof(int16_t));
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

/** A complex number of the transforms. */
struct number {
    int16_t re, im;
};

KIWICHA_SMALL static void require_transform(struct kiwicha_check *check,
                                            const struct kiwicha_signal_transform *p,
                                            uint32_t input_size, uint32_t output_size)
{
    const uint32_t half = p->half;
    kiwicha_require(check, half >= 2 && half <= MAX_HALF && (half & (half - 1)) == 0);
    kiwicha_require(check, p->samples >= 1 && p->samples <= 2 * half);
    kiwicha_require_source(check, &p->input, short_bytes(p->rows, input_size), sizeof(int16_t));
    kiwicha_require_target(check, &p->output, short_bytes(p->rows, output_size),
                           sizeof(struct number));
    kiwicha_require_source(check, &p->twiddles, short_bytes(2, half), sizeof(int16_t));
    kiwicha_require_source(check, &p->super_twiddles, short_bytes(1, half), sizeof(int16_t));
    kiwicha_require_source(check, &p->positions, short_bytes(1, half), sizeof(uint16_t));
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_rfft(const struct kiwicha_memory *memory,
                                                            const void *params)
{
    const struct kiwicha_signal_transform *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_transform(&check, p, p->samples, 2 * p->half + 2);
    return check.status;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_irfft(const struct kiwicha_memory *memory,
                                                             const void *params)
{
    const struct kiwicha_signal_transform *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    require_transform(&check, p, 2 * p->half + 2, 2 * p->half);
    return check.status;
}

/** The same while it is worked on. Where more than 16 bits could come out, a store drops them. */
struct wide {
    int32_t re, im;
};

KIWICHA_SPECIALIZED int32_t rounded(int32_t x)
{
    return (x + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
}

/** Returns a number over 2 or 4: it has so many bits less. */
KIWICHA_SPECIALIZED struct wide divided(struct number x, int32_t divisor)
{
    return (struct wide){rounded(x.re * (ONE / divisor)), rounded(x.im * (ONE / divisor))};
}

KIWICHA_SPECIALIZED struct wide product(struct wide a, struct number root)
{
    return (struct wide){rounded(a.re * root.re - a.im * root.im),
                         rounded(a.re * root.im + a.im * root.re)};
}

KIWICHA_SPECIALIZED struct wide sum(struct wide a, struct wide b)
{
    return (struct wide){a.re + b.re, a.im + b.im};
}

KIWICHA_SPECIALIZED struct wide difference(struct wide a, struct wide b)
{
    return (struct wide){a.re - b.re, a.im - b.im};
}

KIWICHA_SPECIALIZED struct number narrowed(struct wide x)
{
    return (struct number){(int16_t)x.re, (int16_t)x.im};
}

/** Stores a number as a word: two stores of halves take twice as long. */
KIWICHA_SPECIALIZED void store(struct number *at, int32_t re, int32_t im)
{
    *(kiwicha_word *)at = ((uint32_t)re & UINT16_MAX) | (uint32_t)im << 16;
}

KIWICHA_SPECIALIZED void store_wide(struct number *at, struct wide x)
{
    store(at, x.re, x.im);
}

/** Combines four numbers, all but the first of which have been turned. */
KIWICHA_SPECIALIZED void combine(struct number *at, uint32_t length, struct wide a, struct wide b,
                                 struct wide c, struct wide d, bool is_inverse)
{
    const struct wide even = sum(a, c), odd = difference(a, c);
    const struct wide outer = sum(b, d), inner = difference(b, d);
    const struct wide right = {odd.re + inner.im, odd.im - inner.re};
    const struct wide left = {odd.re - inner.im, odd.im + inner.re};
    store_wide(at, sum(even, outer));
    store_wide(at + length, is_inverse ? left : right);
    store_wide(at + 2 * length, difference(even, outer));
    store_wide(at + 3 * length, is_inverse ? right : left);
}

/**
 * Transforms `half` numbers, which lie in the order of the positions, in place.
 *
 * The root 1 leaves numbers as they are: divided by 2 or 4 they have less than 15 bits.
 */
KIWICHA_SPECIALIZED void transform(struct number *numbers, const struct number *roots,
                                   uint32_t half, bool is_inverse)
{
    const struct number *end = numbers + half;
    uint32_t length = 1;
    while (length * 4 <= half) {
        length *= 4;
    }
    const bool is_odd = length < half;
    if (is_odd) {
        for (struct number *at = numbers; at < end; at += 2) {
            const struct wide a = divided(at[0], 2), b = divided(at[1], 2);
            store_wide(at, sum(a, b));
            store_wide(at + 1, difference(a, b));
        }
    }
    for (length = is_odd ? 2 : 1; length < half; length *= 4) {
        const uint32_t stride = half / (4 * length);
        for (struct number *first = numbers; first < end; first += 4 * length) {
            combine(first, length, divided(first[0], 4), divided(first[length], 4),
                    divided(first[2 * length], 4), divided(first[3 * length], 4), is_inverse);
        }
        const struct number *root_1 = roots, *root_2 = roots, *root_3 = roots;
        for (uint32_t k = 1; k < length; k++) {
            root_1 += stride;
            root_2 += 2 * stride;
            root_3 += 3 * stride;
            const struct number w_1 = *root_1, w_2 = *root_2, w_3 = *root_3;
            for (struct number *at = numbers + k; at < end; at += 4 * length) {
                combine(at, length, divided(at[0], 4), product(divided(at[length], 4), w_1),
                        product(divided(at[2 * length], 4), w_2),
                        product(divided(at[3 * length], 4), w_3), is_inverse);
            }
        }
    }
}

/** Makes the spectrum of real numbers from that of half as many complex ones. */
static void split(struct number *numbers, const struct number *roots, uint32_t half)
{
    const struct wide first = divided(numbers[0], 2);
    store(numbers, first.re + first.im, 0);
    store(numbers + half, first.re - first.im, 0);
    struct number *at = numbers + 1, *other = numbers + (half - 1);
    for (; at <= other; at++, other--) {
        const struct number mirrored = {other->re, (int16_t)-other->im};
        const struct wide near = divided(*at, 2), far = divided(mirrored, 2);
        const struct wide even = sum(near, far);
        /* May have more than 16 bits. */
        const struct number turned = narrowed(product(difference(near, far), *roots++));
        store(at, (even.re + turned.re) >> 1, (even.im + turned.im) >> 1);
        store(other, (even.re - turned.re) >> 1, (turned.im - even.im) >> 1);
    }
}

/** SignalRfft. */
enum kiwicha_status kiwicha_run_signal_rfft(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_transform *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    const struct number *twiddles = kiwicha_source(memory, &p->twiddles);
    const struct number *super_twiddles = kiwicha_source(memory, &p->super_twiddles);
    const uint16_t *positions = kiwicha_source(memory, &p->positions);
    struct number *output = kiwicha_target(memory, &p->output);
    const uint32_t half = p->half, samples = p->samples;
    for (uint32_t row = 0; row < p->rows; row++) {
        for (uint32_t k = 0; k < half; k++) {
            if (positions[k] >= half) {
                return KIWICHA_STATUS_BAD_VALUE;
            }
            store(output + positions[k], 2 * k < samples ? input[2 * k] : 0,
                  2 * k + 1 < samples ? input[2 * k + 1] : 0);
        }
        transform(output, twiddles, half, false);
        split(output, super_twiddles, half);
        input += samples;
        output += half + 1;
    }
    return KIWICHA_STATUS_OK;
}

/** SignalIrfft. */
enum kiwicha_status kiwicha_run_signal_irfft(const struct kiwicha_memory *memory,
                                             const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_transform *p = params;
    const struct number *input = kiwicha_source(memory, &p->input);
    const struct number *twiddles = kiwicha_source(memory, &p->twiddles);
    const struct number *super_twiddles = kiwicha_source(memory, &p->super_twiddles);
    const uint16_t *positions = kiwicha_source(memory, &p->positions);
    struct number *output = kiwicha_target(memory, &p->output);
    const uint32_t half = p->half;
    for (uint32_t k = 0; k < half; k++) {
        if (positions[k] >= half) {
            return KIWICHA_STATUS_BAD_VALUE;
        }
    }
    for (uint32_t row = 0; row < p->rows; row++) {
        const struct number ends = {(int16_t)(input[0].re + input[half].re),
                                    (int16_t)(input[0].re - input[half].re)};
        store_wide(output + positions[0], divided(ends, 2));
        for (uint32_t k = 1; k <= half / 2; k++) {
            const struct number other = input[half - k];
            const struct number mirrored = {other.re, (int16_t)-other.im};
            const struct wide near = divided(input[k], 2), far = divided(mirrored, 2);
            const struct wide even = sum(near, far);
            const struct wide turned = product(difference(near, far), super_twiddles[k - 1]);
            const struct wide rest = difference(even, turned);
            store_wide(output + positions[k], sum(even, turned));
            store(output + positions[half - k], rest.re, -rest.im);
        }
        transform(output, twiddles, half, true);
        input += half + 1;
        output += half;
    }
    return KIWICHA_STATUS_OK;
}
