/** What kernels of UNIDIRECTIONAL_SEQUENCE_LSTM have in common. */
#ifndef KIWICHA_LSTM_H
#define KIWICHA_LSTM_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "memory.h"
#include "requantize.h"

#define KIWICHA_LSTM_POINTS 257       /* of the functions */
#define KIWICHA_LSTM_FRACTION_BITS 15 /* of what functions give */

/** Gates of a unit, in this order. */
enum kiwicha_gate {
    KIWICHA_GATE_INPUT,
    KIWICHA_GATE_FORGET,
    KIWICHA_GATE_CELL,
    KIWICHA_GATE_OUTPUT,
    KIWICHA_GATES,
};

/** Requires consistent sizes, references and scales; see `kiwicha_require_lstm`. */
void kiwicha_require_lstm_gates(struct kiwicha_check *check, const struct kiwicha_lstm_gates *p,
                                bool is_simd);

/**
 * Requires consistent sizes, references and scales.
 *
 * @param is_simd whole words of inputs and units
 */
void kiwicha_require_lstm(struct kiwicha_check *check, const struct kiwicha_lstm *p, bool is_simd);

/** Returns x limited to int16: one branch, which is seldom taken. */
static inline int32_t kiwicha_short(int32_t x)
{
    if (__builtin_expect(((uint32_t)x + (1u << 15)) >> 16 != 0, 0)) {
        x = (x >> 31) ^ INT16_MAX;
    }
    return x;
}

/** What the steps of a layer share; units go through it one by one. */
struct kiwicha_lstm_cell {
    uint16_t points[KIWICHA_LSTM_POINTS]; /**< here all is near in the cache that each unit needs */
    int32_t multiplier[KIWICHA_GATES], shift[KIWICHA_GATES];
    int32_t hidden_multiplier, hidden_shift, hidden_offset;
    uint32_t enter_shift;
    int32_t enter_half; /**< 2**enter_shift / 2 */
    int32_t tanh_factor;
    uint32_t tanh_shift;
    int32_t tanh_half; /**< 2**tanh_shift / 2 */
    int32_t minimum, maximum;
};

/** Sets what does not change from unit to unit. */
void kiwicha_lstm_begin(struct kiwicha_lstm_cell *cell, const struct kiwicha_memory *memory,
                        const struct kiwicha_lstm *p);

/** Returns the logistic function in Q0.15 of a number in Q3.12, an int16. */
static inline int32_t kiwicha_logistic_16(const uint16_t *points, int32_t x)
{
    const int32_t scaled = x * 3, sign = scaled >> 31;
    const uint32_t magnitude = (uint32_t)((scaled ^ sign) - sign);
    const uint16_t *point = points + (magnitude >> 9);
    const int32_t low = point[0], high = point[1];
    const int32_t line = low * 512 + (int32_t)(magnitude & 511) * (high - low);
    /* Of a negative argument: 1 less it, whose halves are rounded down. */
    return ((line ^ sign) + (sign & (1 << 25)) + 512) >> 10;
}

/** Returns tanh in Q0.15 of an argument at whose every 256th there is a point. */
static inline int32_t kiwicha_tanh_16(const uint16_t *points, int32_t scaled)
{
    const int32_t sign = scaled >> 31;
    uint32_t magnitude = (uint32_t)((scaled ^ sign) - sign);
    if (__builtin_expect(magnitude > UINT16_MAX, 0)) {
        magnitude = UINT16_MAX;
    }
    const uint16_t *point = points + (magnitude >> 8);
    const int32_t low = point[0], high = point[1];
    const int32_t line = low * 256 + (int32_t)(magnitude & 255) * (high - low) - (1 << 23);
    return ((line ^ sign) + 128) >> 8;
}

/**
 * Returns x / 2**(shift + 1), rounded as a multiplier of 2**30 does it.
 *
 * @param shift 1 or more
 * @param half 2**shift / 2
 */
static inline int32_t kiwicha_lstm_halved(int32_t x, uint32_t shift, int32_t half)
{
    const int32_t first = (x + 1) >> 1;
    return (first + half + (first >> 31)) >> shift;
}

/**
 * Goes on with a unit by a step, and returns the product that its next output is rescaled from.
 *
 * @param gates what the gates are before their functions
 * @param state the unit's cell state
 */
static inline int32_t kiwicha_lstm_unit(const struct kiwicha_lstm_cell *cell, const int32_t *gates,
                                        int16_t *state)
{
    const uint16_t *points = cell->points;
    const int32_t enter = kiwicha_logistic_16(points, gates[KIWICHA_GATE_INPUT]);
    const int32_t keep = kiwicha_logistic_16(points, gates[KIWICHA_GATE_FORGET]);
    const int32_t leave = kiwicha_logistic_16(points, gates[KIWICHA_GATE_OUTPUT]);
    const int32_t new = kiwicha_tanh_16(points, gates[KIWICHA_GATE_CELL] * 3);
    const int32_t kept = kiwicha_lstm_halved(keep * *state, KIWICHA_LSTM_FRACTION_BITS - 1,
                                             1 << (KIWICHA_LSTM_FRACTION_BITS - 2));
    const int32_t entered =
        kiwicha_short(kiwicha_lstm_halved(enter * new, cell->enter_shift, cell->enter_half));
    const int32_t next = kiwicha_clamp(kiwicha_short(kept + entered), cell->minimum, cell->maximum);
    *state = (int16_t)next;
    const int32_t scaled = (next * cell->tanh_factor + cell->tanh_half) >> cell->tanh_shift;
    return kiwicha_tanh_16(points, scaled) * leave;
}

/** Returns an output, given what it is without its zero point. */
static inline int8_t kiwicha_lstm_output(int32_t scaled, int32_t offset)
{
    return (int8_t)(kiwicha_clamp(scaled, INT8_MIN - offset, INT8_MAX - offset) + offset);
}

#endif
