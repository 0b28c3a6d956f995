/** The instructions of the unit for frames of sound; `kiwicha.contract.signal` says what they do.
 */
#ifndef KIWICHA_SIGNAL_UNIT_H
#define KIWICHA_SIGNAL_UNIT_H

#include "cfu.h"

KIWICHA_INLINE void kiwicha_unit_begin(uint32_t half_bits, uint32_t shift)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_BEGIN, 0, half_bits, shift);
}

KIWICHA_INLINE void kiwicha_unit_taper(uint32_t samples, uint32_t weights)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_TAPER, 0, samples, weights);
}

KIWICHA_INLINE uint32_t kiwicha_unit_magnitude(void)
{
    return kiwicha_cfu_ask(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_MAGNITUDE, 0, 0, 0);
}

KIWICHA_INLINE void kiwicha_unit_transform(uint32_t bits)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_TRANSFORM, 0, bits, 0);
}

KIWICHA_INLINE void kiwicha_unit_seek(uint32_t frequency)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_POINT, KIWICHA_SIGNAL_POINT_SEEK,
                   frequency, 0);
}

KIWICHA_INLINE uint32_t kiwicha_unit_number(void)
{
    return kiwicha_cfu_ask(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_POINT,
                           KIWICHA_SIGNAL_POINT_NUMBER, 0, 0);
}

KIWICHA_INLINE void kiwicha_unit_clear_bands(void)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_BAND, KIWICHA_SIGNAL_BAND_CLEAR, 0, 0);
}

KIWICHA_INLINE void kiwicha_unit_add_energy(uint32_t weight, uint32_t unweight)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_BAND, KIWICHA_SIGNAL_BAND_ADD, weight,
                   unweight);
}

KIWICHA_INLINE void kiwicha_unit_next_band(void)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_BAND, KIWICHA_SIGNAL_BAND_NEXT, 0, 0);
}

KIWICHA_INLINE void kiwicha_unit_find_root_of_band(void)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_ROOT, KIWICHA_SIGNAL_ROOT_OF_BAND, 0, 0);
}

KIWICHA_INLINE void kiwicha_unit_find_root(uint64_t number)
{
    kiwicha_cfu_do(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_ROOT, KIWICHA_SIGNAL_ROOT_OF_NUMBER,
                   (uint32_t)number, (uint32_t)(number >> 32));
}

KIWICHA_INLINE uint32_t kiwicha_unit_root(void)
{
    return kiwicha_cfu_ask(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_ROOT, KIWICHA_SIGNAL_ROOT_RESULT,
                           0, 0);
}

KIWICHA_INLINE uint32_t kiwicha_unit_bit_length(uint32_t word)
{
    return kiwicha_cfu_compute(KIWICHA_GROUP_SIGNAL, KIWICHA_SIGNAL_OP_BITS, 0, word, 0);
}

#endif
