/** Samples of a frame of sound: their limits and their magnitudes. */
#ifndef KIWICHA_SIGNAL_SAMPLES_H
#define KIWICHA_SIGNAL_SAMPLES_H

#include <stdbool.h>

#include "elements.h"

KIWICHA_SPECIALIZED int32_t kiwicha_clipped_sample(int32_t x)
{
    if (__builtin_expect(x == (int16_t)x, true)) {
        return x;
    }
    return (x >> 31) ^ INT16_MAX;
}

/**
 * Returns the largest magnitude so far, as the interpreter finds it: that of -32768 is that number
 * again.
 */
KIWICHA_SPECIALIZED int32_t kiwicha_odd_magnitude(int32_t most, int32_t sample)
{
    if (sample > most) {
        return sample;
    }
    return -sample > most ? (int16_t)-sample : most;
}

/** Returns by how many bits samples of a magnitude can be shifted up; none if it is not above 0. */
KIWICHA_SPECIALIZED int32_t kiwicha_scale_bits(int32_t magnitude)
{
    int32_t bits = 0;
    for (; magnitude > 0 && magnitude <= INT16_MAX / 2; magnitude *= 2) {
        bits++;
    }
    return bits;
}

#endif
