/** A model of the unit for frames of sound in plain C, a part of `cfu_model.c`. */
#ifndef KIWICHA_SIGNAL_MODEL_H
#define KIWICHA_SIGNAL_MODEL_H

#include <math.h>
#include <stdint.h>

#include "kiwicha_isa.h"

#define SIGNAL_POINTS (1 << KIWICHA_MOST_HALF_BITS)
#define SIGNAL_ONE INT16_MAX

struct signal_number {
    int16_t re, im;
};

static struct {
    struct signal_number points[SIGNAL_POINTS + 1];
    uint32_t half_bits;
    uint32_t shift;
    uint32_t count;
    uint32_t magnitude;
    uint32_t frequency;
    uint64_t sums[2];
    uint32_t root;
} signal_unit;

/** Floor of x / 2**bits, which C leaves to the implementation for negative x. */
static int64_t signal_shift(int64_t x, uint32_t bits)
{
    return x >= 0 ? x >> bits : -((-x + (INT64_C(1) << bits) - 1) >> bits);
}

static int32_t signal_rounded(int64_t x)
{
    return (int16_t)signal_shift(x + (1 << 14), 15);
}

static struct signal_number signal_divided(struct signal_number x, int32_t divisor)
{
    const int32_t factor = SIGNAL_ONE / divisor;
    return (struct signal_number){(int16_t)signal_rounded((int64_t)x.re * factor),
                                  (int16_t)signal_rounded((int64_t)x.im * factor)};
}

/** Returns a number times exp(-2 pi i turns / (2 SIGNAL_POINTS)). */
static struct signal_number signal_turned(struct signal_number x, uint32_t turns)
{
    const double phase = -3.14159265358979323846 * turns / SIGNAL_POINTS;
    const int32_t re = (int32_t)floor(0.5 + SIGNAL_ONE * cos(phase));
    const int32_t im = (int32_t)floor(0.5 + SIGNAL_ONE * sin(phase));
    return (struct signal_number){(int16_t)signal_rounded((int64_t)x.re * re - (int64_t)x.im * im),
                                  (int16_t)signal_rounded((int64_t)x.re * im + (int64_t)x.im * re)};
}

static struct signal_number signal_sum(struct signal_number a, struct signal_number b)
{
    return (struct signal_number){(int16_t)(a.re + b.re), (int16_t)(a.im + b.im)};
}

static struct signal_number signal_difference(struct signal_number a, struct signal_number b)
{
    return (struct signal_number){(int16_t)(a.re - b.re), (int16_t)(a.im - b.im)};
}

/** Returns where a point lies before the first stage: its digits of base 4 are turned around. */
static uint32_t signal_place(uint32_t number)
{
    uint32_t place = 0;
    for (uint32_t bits = signal_unit.half_bits; bits > 0;) {
        const uint32_t digit = bits > 1 ? 2 : 1;
        place = place << digit | (number & ((1u << digit) - 1));
        number >>= digit;
        bits -= digit;
    }
    return place;
}

static void signal_butterfly(struct signal_number *at, uint32_t length, uint32_t k)
{
    struct signal_number x[4];
    for (uint32_t leg = 0; leg < 4; leg++) {
        x[leg] = signal_divided(at[leg * length], 4);
        if (leg > 0) {
            x[leg] = signal_turned(x[leg], leg * k * (SIGNAL_POINTS / 2 / length));
        }
    }
    const struct signal_number even = signal_sum(x[0], x[2]), odd = signal_difference(x[0], x[2]);
    const struct signal_number outer = signal_sum(x[1], x[3]);
    const struct signal_number inner = signal_difference(x[1], x[3]);
    const struct signal_number quarter = {inner.im, (int16_t)-inner.re};
    at[0] = signal_sum(even, outer);
    at[length] = signal_sum(odd, quarter);
    at[2 * length] = signal_difference(even, outer);
    at[3 * length] = signal_difference(odd, quarter);
}

static void signal_split(uint32_t half)
{
    struct signal_number *points = signal_unit.points;
    const struct signal_number first = signal_divided(points[0], 2);
    points[0] = (struct signal_number){(int16_t)(first.re + first.im), 0};
    points[half] = (struct signal_number){(int16_t)(first.re - first.im), 0};
    for (uint32_t k = 1; k <= half / 2; k++) {
        const struct signal_number other = points[half - k];
        const struct signal_number mirrored = {other.re, (int16_t)-other.im};
        const struct signal_number near = signal_divided(points[k], 2);
        const struct signal_number far = signal_divided(mirrored, 2);
        const struct signal_number even = signal_sum(near, far);
        const struct signal_number turned = signal_turned(
            signal_difference(near, far), k * (SIGNAL_POINTS / half) + SIGNAL_POINTS / 2);
        points[k] = (struct signal_number){(int16_t)signal_shift(even.re + turned.re, 1),
                                           (int16_t)signal_shift(even.im + turned.im, 1)};
        points[half - k] = (struct signal_number){(int16_t)signal_shift(even.re - turned.re, 1),
                                                  (int16_t)signal_shift(turned.im - even.im, 1)};
    }
}

static void signal_transform(uint32_t bits)
{
    const uint32_t half = 1u << signal_unit.half_bits;
    struct signal_number *points = signal_unit.points;
    for (uint32_t k = 0; k < half; k++) {
        points[k].re = (int16_t)((uint32_t)points[k].re << bits);
        points[k].im = (int16_t)((uint32_t)points[k].im << bits);
    }
    uint32_t length = 1;
    if (signal_unit.half_bits % 2 != 0) {
        for (uint32_t k = 0; k < half; k += 2) {
            const struct signal_number a = signal_divided(points[k], 2);
            const struct signal_number b = signal_divided(points[k + 1], 2);
            points[k] = signal_sum(a, b);
            points[k + 1] = signal_difference(a, b);
        }
        length = 2;
    }
    for (; length < half; length *= 4) {
        for (uint32_t k = 0; k < half / 4; k++) {
            const uint32_t inside = k % length;
            signal_butterfly(points + (k - inside) * 4 + inside, length, inside);
        }
    }
    signal_split(half);
    signal_unit.frequency = 0;
}

static void signal_taper(uint32_t samples, uint32_t weights)
{
    int16_t values[2];
    for (uint32_t k = 0; k < 2; k++) {
        const int32_t product =
            (int32_t)(int16_t)(samples >> 16 * k) * (int16_t)(weights >> 16 * k);
        const int64_t value = signal_shift(product, signal_unit.shift);
        values[k] = (int16_t)(value < INT16_MIN   ? INT16_MIN
                              : value > INT16_MAX ? INT16_MAX
                                                  : value);
        signal_unit.magnitude |= (uint32_t)(values[k] < 0 ? -values[k] : values[k]);
    }
    signal_unit.points[signal_place(signal_unit.count)] =
        (struct signal_number){values[0], values[1]};
    signal_unit.count = (signal_unit.count + 1) % (1u << signal_unit.half_bits);
}

static uint32_t signal_energy(void)
{
    const struct signal_number x = signal_unit.points[signal_unit.frequency % (SIGNAL_POINTS + 1)];
    return (uint32_t)(x.re * x.re) + (uint32_t)(x.im * x.im);
}

static uint32_t signal_point(uint32_t index, uint32_t a)
{
    const struct signal_number x = signal_unit.points[signal_unit.frequency % (SIGNAL_POINTS + 1)];
    uint32_t answer = 0;
    switch (index) {
    case KIWICHA_SIGNAL_POINT_NUMBER:
        answer = (uint16_t)x.re | (uint32_t)(uint16_t)x.im << 16;
        break;
    case KIWICHA_SIGNAL_POINT_ENERGY:
        answer = signal_energy();
        break;
    default:
        signal_unit.frequency = a;
        return 0;
    }
    signal_unit.frequency++;
    return answer;
}

static void signal_next_band(void)
{
    signal_unit.sums[0] = signal_unit.sums[1];
    signal_unit.sums[1] = 0;
}

static void signal_band(uint32_t index, uint32_t a, uint32_t b)
{
    if (index == KIWICHA_SIGNAL_BAND_ADD) {
        const uint64_t energy = signal_energy();
        signal_unit.sums[0] += energy * (uint16_t)a;
        signal_unit.sums[1] += energy * (uint16_t)b;
        signal_unit.frequency++;
    } else if (index == KIWICHA_SIGNAL_BAND_NEXT) {
        signal_next_band();
    } else {
        signal_unit.sums[0] = signal_unit.sums[1] = 0;
    }
}

static uint32_t signal_root_of(uint64_t number)
{
    uint64_t rest = 0, root = 0;
    for (uint32_t k = 0; k < 32; k++) {
        rest = rest << 2 | (number >> (62 - 2 * k) & 3);
        const uint64_t trial = root << 2 | 1;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    const uint64_t most = number >> 32 == 0 ? UINT16_MAX : UINT32_MAX;
    return (uint32_t)(root + (rest > root && root != most));
}

static uint32_t signal_bit_length(uint32_t word)
{
    uint32_t bits = 0;
    for (; word != 0; word >>= 1) {
        bits++;
    }
    return bits;
}

static uint32_t signal_model(uint32_t op, uint32_t index, uint32_t a, uint32_t b, uint32_t unknown)
{
    const uint32_t indexes = op == KIWICHA_SIGNAL_OP_POINT || op == KIWICHA_SIGNAL_OP_BAND ||
                                     op == KIWICHA_SIGNAL_OP_ROOT
                                 ? 3
                                 : 1;
    if (index >= indexes) {
        return unknown;
    }
    switch (op) {
    case KIWICHA_SIGNAL_OP_BEGIN:
        a %= 16;
        signal_unit.half_bits =
            a < KIWICHA_LEAST_HALF_BITS || a > KIWICHA_MOST_HALF_BITS ? KIWICHA_MOST_HALF_BITS : a;
        signal_unit.shift = b % 32;
        signal_unit.count = signal_unit.magnitude = 0;
        return 0;
    case KIWICHA_SIGNAL_OP_TAPER:
        signal_taper(a, b);
        return 0;
    case KIWICHA_SIGNAL_OP_MAGNITUDE:
        return signal_unit.magnitude;
    case KIWICHA_SIGNAL_OP_TRANSFORM:
        signal_transform(a % 32);
        return 0;
    case KIWICHA_SIGNAL_OP_POINT:
        return signal_point(index, a);
    case KIWICHA_SIGNAL_OP_BAND:
        signal_band(index, a, b);
        return 0;
    case KIWICHA_SIGNAL_OP_ROOT:
        if (index == KIWICHA_SIGNAL_ROOT_RESULT) {
            return signal_unit.root;
        }
        if (index == KIWICHA_SIGNAL_ROOT_OF_BAND) {
            signal_unit.root = signal_root_of(signal_unit.sums[0]);
            signal_next_band();
        } else {
            signal_unit.root = signal_root_of((uint64_t)b << 32 | a);
        }
        return 0;
    default:
        return signal_bit_length(a);
    }
}

#endif
