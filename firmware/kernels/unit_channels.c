#include <stddef.h>

#include "check.h"
#include "kernels.h"
#include "short_pairs.h"
#include "signal_samples.h"
#include "signal_unit.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_unit_channels(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    const struct kiwicha_unit_channels *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t weights = kiwicha_short_bytes(1, p->weight_count);
    kiwicha_require(&check, p->half_bits >= KIWICHA_LEAST_HALF_BITS &&
                                p->half_bits <= KIWICHA_MOST_HALF_BITS);
    kiwicha_require(&check, p->samples <= UINT32_C(2) << p->half_bits % 32);
    kiwicha_require(&check, p->shift <= 31 && p->channels < UINT16_MAX);
    kiwicha_require_source(&check, &p->input, kiwicha_short_bytes(1, p->samples), sizeof(uint32_t));
    kiwicha_require_source(&check, &p->taper, kiwicha_short_bytes(1, p->samples), sizeof(uint32_t));
    kiwicha_require_source(&check, &p->weights, weights, sizeof(uint16_t));
    kiwicha_require_source(&check, &p->unweights, weights, sizeof(uint16_t));
    kiwicha_require_source(&check, &p->bands, (p->channels + 1) * 3 * (uint32_t)sizeof(uint16_t),
                           sizeof(uint16_t));
    kiwicha_require_target(&check, &p->output,
                           kiwicha_saturating_multiply(p->channels, sizeof(uint32_t)),
                           sizeof(uint32_t));
    return check.status;
}

/** Gives the unit all samples of a frame, and zeros behind them. */
static void give_samples(const struct kiwicha_unit_channels *p, const void *input,
                         const void *taper)
{
    const kiwicha_word *samples = input, *weights = taper;
    const uint32_t pairs = p->samples / 2;
    uint32_t k = 0;
#pragma GCC unroll 4
    for (; k < pairs; k++) {
        kiwicha_unit_taper(samples[k], weights[k]);
    }
    if (p->samples % 2 != 0) {
        kiwicha_unit_taper(((const uint16_t *)input)[2 * k], ((const uint16_t *)taper)[2 * k]);
        k++;
    }
    for (; k >> p->half_bits == 0; k++) {
        kiwicha_unit_taper(0, 0);
    }
}

/** Returns by how many bits samples are shifted up where one of them may be -32768. */
static __attribute__((noinline)) uint32_t odd_bits(const struct kiwicha_unit_channels *p,
                                                   const int16_t *input, const int16_t *taper)
{
    int32_t most = 0;
    for (uint32_t k = 0; k < p->samples; k++) {
        most = kiwicha_odd_magnitude(most, kiwicha_clipped_sample(input[k] * taper[k] >> p->shift));
    }
    return (uint32_t)kiwicha_scale_bits(most);
}

/** A frame of sound, up to the roots of what its channels have. */
enum kiwicha_status kiwicha_run_unit_channels(const struct kiwicha_memory *memory,
                                              const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_unit_channels *p = params;
    const void *input = kiwicha_source(memory, &p->input);
    const void *taper = kiwicha_source(memory, &p->taper);
    const uint16_t *weights = kiwicha_source(memory, &p->weights);
    const uint16_t *unweights = kiwicha_source(memory, &p->unweights);
    const uint16_t *bands = kiwicha_source(memory, &p->bands);
    uint32_t *output = kiwicha_target(memory, &p->output);
    kiwicha_unit_begin(p->half_bits, p->shift);
    give_samples(p, input, taper);
    const uint32_t magnitude = kiwicha_unit_magnitude();
    const uint32_t bits = magnitude > INT16_MAX ? odd_bits(p, input, taper)
                          : magnitude == 0      ? 0
                                                : 15 - kiwicha_unit_bit_length(magnitude);
    kiwicha_unit_transform(bits);
    kiwicha_unit_clear_bands();
    const uint32_t frequencies = (UINT32_C(1) << p->half_bits) + 1;
    uint32_t place = 0;
    for (uint32_t channel = 0; channel <= p->channels; channel++) {
        const uint32_t frequency = bands[0], weight = bands[1], count = bands[2];
        if (frequency + count > frequencies || weight + count > p->weight_count) {
            return KIWICHA_STATUS_BAD_VALUE;
        }
        if (frequency != place) {
            kiwicha_unit_seek(frequency);
        }
        place = frequency + count;
        const uint16_t *near = weights + weight, *far = unweights + weight, *end = near + count;
        while (near != end) {
            kiwicha_unit_add_energy(*near++, *far++);
        }
        /* While a root is searched the next band is added up. */
        if (channel > 1) {
            *output++ = kiwicha_unit_root() >> bits;
        }
        if (channel > 0) {
            kiwicha_unit_find_root_of_band();
        } else {
            kiwicha_unit_next_band();
        }
        bands += 3;
    }
    if (p->channels > 0) {
        *output = kiwicha_unit_root() >> bits;
    }
    return KIWICHA_STATUS_OK;
}
