#include <stddef.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"
#include "short_pairs.h"

#define FRACTION_BITS 15
#define ONE INT16_MAX
#define MAX_HALF 16384u

/** Marks functions whose loops need all registers: those of a caller would come to them. */
#define NEEDS_REGISTERS __attribute__((noinline))

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
    kiwicha_require_source(check, &p->input, kiwicha_short_bytes(p->rows, input_size),
                           sizeof(int16_t));
    kiwicha_require_target(check, &p->output, kiwicha_short_bytes(p->rows, output_size),
                           sizeof(struct number));
    kiwicha_require_source(check, &p->twiddles, kiwicha_short_bytes(2, half), sizeof(int16_t));
    kiwicha_require_source(check, &p->super_twiddles, kiwicha_short_bytes(1, half),
                           sizeof(int16_t));
    kiwicha_require_source(check, &p->positions, kiwicha_short_bytes(1, half), sizeof(uint16_t));
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

/** Returns a number of memory. */
KIWICHA_SPECIALIZED struct wide load(const struct number *at)
{
    return (struct wide){at->re, at->im};
}

/** Returns a number over 2 or 4: it has so many bits less. */
KIWICHA_SPECIALIZED struct wide divided(struct wide x, int32_t divisor)
{
    int32_t factor = ONE / divisor;
    /* A product is faster than the shift and the difference that stand for a known factor. */
    __asm__("" : "+r"(factor));
    return (struct wide){rounded(x.re * factor), rounded(x.im * factor)};
}

KIWICHA_SPECIALIZED struct wide product(struct wide a, struct wide root)
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

KIWICHA_SPECIALIZED void store_wide(struct number *at, struct wide x)
{
    kiwicha_store_shorts(at, x.re, x.im);
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

/** Stores the sum and the difference of two numbers. */
KIWICHA_SPECIALIZED void combine_pair(struct number *at, struct wide x, struct wide y)
{
    const struct wide a = divided(x, 2), b = divided(y, 2);
    store_wide(at, sum(a, b));
    store_wide(at + 1, difference(a, b));
}

/** Combines four numbers of which none is to be turned: divided by 4 they have less than 15 bits.
 */
KIWICHA_SPECIALIZED void combine_plain(struct number *at, uint32_t length, struct wide a,
                                       struct wide b, struct wide c, struct wide d, bool is_inverse)
{
    combine(at, length, divided(a, 4), divided(b, 4), divided(c, 4), divided(d, 4), is_inverse);
}

/** Returns whether a power of two is not one of four. */
KIWICHA_SPECIALIZED bool is_odd_power(uint32_t half)
{
    return (half & UINT32_C(0xaaaaaaaa)) != 0;
}

/** Combines transforms of a `length`, four at a time. */
KIWICHA_SPECIALIZED void run_stage(struct number *numbers, const struct number *roots,
                                   uint32_t half, uint32_t length, bool is_inverse)
{
    const struct number *end = numbers + half;
    for (struct number *at = numbers; at < end; at += 4 * length) {
        combine_plain(at, length, load(at), load(at + length), load(at + 2 * length),
                      load(at + 3 * length), is_inverse);
    }
    const uint32_t stride = half / (4 * length);
    uint32_t place = 0;
    for (uint32_t k = 1; k < length; k++) {
        place += stride;
        const struct wide root_1 = load(roots + place), root_2 = load(roots + 2 * place),
                          root_3 = load(roots + 3 * place);
        for (struct number *at = numbers + k; at < end; at += 4 * length) {
            combine(at, length, divided(load(at), 4),
                    product(divided(load(at + length), 4), root_1),
                    product(divided(load(at + 2 * length), 4), root_2),
                    product(divided(load(at + 3 * length), 4), root_3), is_inverse);
        }
    }
}

/** Transforms `half` numbers in place, of which transforms of a `length` are done. */
NEEDS_REGISTERS static void transform(struct number *numbers, const struct number *roots,
                                      uint32_t half, uint32_t length)
{
    for (; length < half; length *= 4) {
        run_stage(numbers, roots, half, length, false);
    }
}

NEEDS_REGISTERS static void transform_back(struct number *numbers, const struct number *roots,
                                           uint32_t half, uint32_t length)
{
    for (; length < half; length *= 4) {
        run_stage(numbers, roots, half, length, true);
    }
}

/** Makes the spectrum of real numbers from that of half as many complex ones. */
NEEDS_REGISTERS static void split(struct number *numbers, const struct number *roots, uint32_t half)
{
    const struct wide first = divided(load(numbers), 2);
    kiwicha_store_shorts(numbers, first.re + first.im, 0);
    kiwicha_store_shorts(numbers + half, first.re - first.im, 0);
    struct number *at = numbers + 1, *other = numbers + (half - 1);
    for (; at <= other; at++, other--) {
        const struct wide mirrored = {other->re, (int16_t)-other->im};
        const struct wide near = divided(load(at), 2), far = divided(mirrored, 2);
        const struct wide even = sum(near, far);
        const struct wide turned = product(difference(near, far), load(roots++));
        /* May have more than 16 bits. */
        const int32_t re = (int16_t)turned.re, im = (int16_t)turned.im;
        kiwicha_store_shorts(at, (even.re + re) >> 1, (even.im + im) >> 1);
        kiwicha_store_shorts(other, (even.re - re) >> 1, (im - even.im) >> 1);
    }
}

/** Returns two samples as a complex number; zeros are behind the last one. */
KIWICHA_SPECIALIZED struct wide samples_at(const int16_t *input, uint32_t samples, uint32_t k)
{
    if (2 * k + 1 < samples) {
        return (struct wide){input[2 * k], input[2 * k + 1]};
    }
    return (struct wide){2 * k < samples ? input[2 * k] : 0, 0};
}

/**
 * Does the first stage on the way from the input; returns the length of transforms that are done.
 *
 * What it combines lies a part of the input apart, and side by side in the output. 0 if that is
 * not so.
 */
static uint32_t load_samples(struct number *output, const int16_t *input, const uint16_t *positions,
                             uint32_t half, uint32_t samples)
{
    const uint32_t radix = is_odd_power(half) ? 2 : 4, part = half / radix;
    for (uint32_t k = 0; k < part; k++) {
        if (positions[k] > half - radix) {
            return 0;
        }
        struct number *at = output + positions[k];
        const struct wide a = samples_at(input, samples, k);
        const struct wide b = samples_at(input, samples, k + part);
        if (radix == 2) {
            combine_pair(at, a, b);
        } else {
            combine_plain(at, 1, a, b, samples_at(input, samples, k + 2 * part),
                          samples_at(input, samples, k + 3 * part), false);
        }
    }
    return radix;
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
        const uint32_t length = load_samples(output, input, positions, half, samples);
        if (length == 0) {
            return KIWICHA_STATUS_BAD_VALUE;
        }
        transform(output, twiddles, half, length);
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
        const struct wide ends = {(int16_t)(input[0].re + input[half].re),
                                  (int16_t)(input[0].re - input[half].re)};
        store_wide(output + positions[0], divided(ends, 2));
        for (uint32_t k = 1; k <= half / 2; k++) {
            const struct wide other = load(input + (half - k));
            const struct wide mirrored = {other.re, (int16_t)-other.im};
            const struct wide near = divided(load(input + k), 2), far = divided(mirrored, 2);
            const struct wide even = sum(near, far);
            const struct wide turned =
                product(difference(near, far), load(super_twiddles + (k - 1)));
            const struct wide rest = difference(even, turned);
            store_wide(output + positions[k], sum(even, turned));
            kiwicha_store_shorts(output + positions[half - k], rest.re, -rest.im);
        }
        if (is_odd_power(half)) {
            for (struct number *at = output; at < output + half; at += 2) {
                combine_pair(at, load(at), load(at + 1));
            }
        }
        transform_back(output, twiddles, half, is_odd_power(half) ? 2 : 1);
        input += half + 1;
        output += half;
    }
    return KIWICHA_STATUS_OK;
}
