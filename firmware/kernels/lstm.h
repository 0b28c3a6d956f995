/** What kernels of UNIDIRECTIONAL_SEQUENCE_LSTM have in common. */
#ifndef KIWICHA_LSTM_H
#define KIWICHA_LSTM_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "memory.h"
#include "requantize.h"

#define KIWICHA_LSTM_POINTS 257         /* of the functions */
#define KIWICHA_LSTM_FRACTION_BITS 15   /* of what functions give */
#define KIWICHA_LOGISTIC_HALF (1 << 24) /* on a line between points, which lack it */

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
    const int16_t *points;
    uint32_t hidden_factor; /**< of a scale of less than a half: twice its multiplier */
    int32_t hidden_shift;   /**< by how many bits to the right, and one more; -1 of other scales */
    int32_t hidden_offset;
    int32_t enter_half; /**< 2**enter_shift / 2 */
    uint32_t enter_shift;
    int32_t tanh_factor;
    int32_t tanh_half; /**< 2**tanh_shift / 2 */
    uint32_t tanh_shift;
    int32_t minimum;
    uint32_t range; /**< maximum - minimum */
};

/** Sets what does not change from unit to unit. */
void kiwicha_lstm_begin(struct kiwicha_lstm_cell *cell, const struct kiwicha_memory *memory,
                        const struct kiwicha_lstm *p);

/** Returns the logistic function in Q0.15 of a number in Q3.12, an int16. */
static inline int32_t kiwicha_logistic_16(const int16_t *points, int32_t x)
{
    const int32_t scaled = x * 3, sign = scaled >> 31;
    const uint32_t magnitude = (uint32_t)((scaled ^ sign) - sign);
    const int16_t *point = points + (magnitude >> 9);
    const int32_t low = point[0], high = point[1];
    const int32_t line = low * 512 + (int32_t)(magnitude & 511) * (high - low);
    /* Of a negative argument: 1 less it, whose halves are rounded down. */
    return ((line ^ sign) + KIWICHA_LOGISTIC_HALF + 512) >> 10;
}

/** Returns tanh in Q0.15 of an argument at whose every 256th there is a point. */
static inline int32_t kiwicha_tanh_16(const int16_t *points, int32_t scaled)
{
    const int32_t sign = scaled >> 31;
    uint32_t magnitude = (uint32_t)((scaled ^ sign) - sign);
    if (__builtin_expect(magnitude > UINT16_MAX, 0)) {
        magnitude = UINT16_MAX;
    }
    const int16_t *point = points + (magnitude >> 8);
    const int32_t low = point[0], high = point[1];
    const int32_t line = low * 256 + (int32_t)(magnitude & 255) * (high - low);
    return ((line ^ sign) + 128) >> 8;
}

/**
 * Returns x / 2**shift, rounded as a multiplier of 2**30 and a shift by one bit less do it: halves
 * go away from zero, and so does what is next to them.
 *
 * @param x of less than 2**30, positive or negative
 * @param shift 2 or more
 * @param half 2**shift / 2
 */
static inline int32_t kiwicha_lstm_halved(int32_t x, uint32_t shift, int32_t half)
{
    return (x + ((x >> 31) | 1) + half) >> shift;
}

/** What the gates of a unit are before their functions; or what is added to it. */
struct kiwicha_lstm_sums {
    int32_t input, forget, cell, output;
};

/** Returns a number whose upper half is 0 if the gates are int16. */
static inline uint32_t kiwicha_lstm_excess(struct kiwicha_lstm_sums x)
{
    const uint32_t limit = 1u << 15;
    return ((uint32_t)x.input + limit) | ((uint32_t)x.forget + limit) | ((uint32_t)x.cell + limit) |
           ((uint32_t)x.output + limit);
}

/**
 * Goes on with a unit by a step, and returns the product that its next output is rescaled from.
 *
 * @param added what its input adds to the gates, in the order of `kiwicha_gate`
 * @param sums what the hidden state adds to them, not yet limited
 * @param state the unit's cell state
 */
static inline __attribute__((always_inline)) int32_t
kiwicha_lstm_unit(const struct kiwicha_lstm_cell *cell, const int16_t *added,
                  struct kiwicha_lstm_sums sums, int16_t *state)
{
    const int16_t *points = cell->points;
    const int32_t old = *state;
    struct kiwicha_lstm_sums x = {
        kiwicha_wrapping_add(sums.input, added[KIWICHA_GATE_INPUT]),
        kiwicha_wrapping_add(sums.forget, added[KIWICHA_GATE_FORGET]),
        kiwicha_wrapping_add(sums.cell, added[KIWICHA_GATE_CELL]),
        kiwicha_wrapping_add(sums.output, added[KIWICHA_GATE_OUTPUT]),
    };
    /* One branch for eight limits, which are seldom exceeded. */
    const uint32_t all = kiwicha_lstm_excess(sums) | kiwicha_lstm_excess(x);
    if (__builtin_expect(all >> 16 != 0, 0)) {
        x.input = kiwicha_short(added[KIWICHA_GATE_INPUT] + kiwicha_short(sums.input));
        x.forget = kiwicha_short(added[KIWICHA_GATE_FORGET] + kiwicha_short(sums.forget));
        x.cell = kiwicha_short(added[KIWICHA_GATE_CELL] + kiwicha_short(sums.cell));
        x.output = kiwicha_short(added[KIWICHA_GATE_OUTPUT] + kiwicha_short(sums.output));
    }
    const int32_t enter = kiwicha_logistic_16(points, x.input);
    const int32_t keep = kiwicha_logistic_16(points, x.forget);
    const int32_t new = kiwicha_tanh_16(points, x.cell * 3);
    const int32_t leave = kiwicha_logistic_16(points, x.output);
    const int32_t kept = kiwicha_lstm_halved(keep * old, KIWICHA_LSTM_FRACTION_BITS,
                                             1 << (KIWICHA_LSTM_FRACTION_BITS - 1));
    const int32_t entered = kiwicha_lstm_halved(enter * new, cell->enter_shift, cell->enter_half);
    int32_t next = kept + entered;
    if (__builtin_expect((uint32_t)(next - cell->minimum) > cell->range, 0)) {
        next = kiwicha_clamp(next, cell->minimum, cell->minimum + (int32_t)cell->range);
    }
    *state = (int16_t)next;
    const int32_t scaled = (next * cell->tanh_factor + cell->tanh_half) >> cell->tanh_shift;
    return kiwicha_tanh_16(points, scaled) * leave;
}

/**
 * Returns what `kiwicha_lstm_unit` gives in steps of the hidden state, not yet limited.
 *
 * @param p parameters of the kernel, for scales that are seldom
 */
static inline int32_t kiwicha_lstm_scaled(const struct kiwicha_lstm_cell *cell,
                                          const struct kiwicha_lstm *p, int32_t product)
{
    if (__builtin_expect(cell->hidden_shift >= 0, 1)) {
        const int64_t doubled = (int64_t)product * cell->hidden_factor;
        const int32_t high = (int32_t)(doubled >> 32) + (int32_t)((uint32_t)doubled >> 31);
        /* Halves go away from zero. */
        return (((high + (high >> 31)) >> cell->hidden_shift) + 1) >> 1;
    }
    return kiwicha_rescale(product, p->hidden_multiplier, p->hidden_shift);
}

/** Returns the same as an output of int8. */
static inline int8_t kiwicha_lstm_output(const struct kiwicha_lstm_cell *cell,
                                         const struct kiwicha_lstm *p, int32_t product)
{
    int32_t scaled = kiwicha_lstm_scaled(cell, p, product);
    const int32_t offset = cell->hidden_offset;
    if (__builtin_expect((uint32_t)scaled + (uint32_t)(offset - INT8_MIN) > UINT8_MAX, 0)) {
        scaled = kiwicha_clamp(scaled, INT8_MIN - offset, INT8_MAX - offset);
    }
    return (int8_t)(scaled + offset);
}

#endif
