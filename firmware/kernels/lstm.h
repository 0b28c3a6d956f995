/** What kernels of UNIDIRECTIONAL_SEQUENCE_LSTM have in common. */
#ifndef KIWICHA_LSTM_H
#define KIWICHA_LSTM_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "memory.h"
#include "requantize.h"

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

static inline int16_t kiwicha_short(int32_t x)
{
    return (int16_t)kiwicha_clamp(x, INT16_MIN, INT16_MAX);
}

/** What the steps of a layer share; units go through it one by one. */
struct kiwicha_lstm_cell {
    const int32_t *lines; /**< the line of argument 0 */
    uint32_t keep_shift, enter_shift;
    uint32_t tanh_left, tanh_right;
    int32_t minimum, maximum;
};

/** Returns what does not change from unit to unit. */
struct kiwicha_lstm_cell kiwicha_lstm_cell_of(const struct kiwicha_memory *memory,
                                              const struct kiwicha_lstm *p);

/** Returns the logistic function in Q0.15 of a number in Q3.12. */
static inline int32_t kiwicha_logistic_16(const int32_t *lines, int16_t x)
{
    const int32_t scaled = x * 3;
    const int32_t line = lines[scaled >> 9];
    const int32_t above = (scaled & 511) * (line & 0xffff);
    /* Halves are rounded up, those of negative arguments down. */
    return (((line >> 16) * 512 + above + 512 + (scaled >> 31)) >> 10) + (1 << 14);
}

/** Returns tanh in Q0.15 of an argument at whose every 256th there is a line. */
static inline int32_t kiwicha_tanh_16(const int32_t *lines, int32_t scaled)
{
    scaled = kiwicha_clamp(scaled, -(1 << 16), (1 << 16) - 1);
    const int32_t line = lines[scaled >> 8];
    const int32_t above = (scaled & 255) * (line & 0xffff);
    return ((line >> 16) * 256 + above + 128 + (scaled >> 31)) >> 8;
}

/** Returns x / 2**(shift + 1), rounded as a multiplier of 2**30 does it; shift is 1 or more. */
static inline int32_t kiwicha_lstm_halved(int32_t x, uint32_t shift)
{
    const int32_t half = (x + 1) >> 1;
    return (half + (1 << (shift - 1)) + (half >> 31)) >> shift;
}

/**
 * Goes on with a unit by a step, and returns the product that its next output is rescaled from.
 *
 * @param gates what the gates are before their functions
 * @param state the unit's cell state
 */
static inline int32_t kiwicha_lstm_unit(const struct kiwicha_lstm_cell *cell, const int16_t *gates,
                                        int16_t *state)
{
    const int32_t *lines = cell->lines;
    const int32_t enter = kiwicha_logistic_16(lines, gates[KIWICHA_GATE_INPUT]);
    const int32_t keep = kiwicha_logistic_16(lines, gates[KIWICHA_GATE_FORGET]);
    const int32_t leave = kiwicha_logistic_16(lines, gates[KIWICHA_GATE_OUTPUT]);
    const int32_t new = kiwicha_tanh_16(lines, gates[KIWICHA_GATE_CELL] * 3);
    const int32_t kept = kiwicha_lstm_halved(keep * *state, cell->keep_shift);
    const int32_t entered = kiwicha_short(kiwicha_lstm_halved(enter * new, cell->enter_shift));
    const int32_t next = kiwicha_clamp(kiwicha_short(kept + entered), cell->minimum, cell->maximum);
    *state = (int16_t)next;
    const int32_t scaled = (next * (3 << cell->tanh_left) + ((1 << cell->tanh_right) >> 1));
    return kiwicha_tanh_16(lines, scaled >> cell->tanh_right) * leave;
}

/** Returns an output, given what it is without its zero point. */
static inline int8_t kiwicha_lstm_output(int32_t scaled, int32_t offset)
{
    return (int8_t)(kiwicha_clamp(scaled, INT8_MIN - offset, INT8_MAX - offset) + offset);
}

#endif
