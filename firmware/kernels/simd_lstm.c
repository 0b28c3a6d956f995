#include <stddef.h>
#include <string.h>

#include "kernels.h"
#include "lstm.h"
#include "simd_matrix.h"

#define OUTPUT_WORDS (KIWICHA_GATES * sizeof(int16_t) / sizeof(kiwicha_word)) /* of a unit */

KIWICHA_SMALL enum kiwicha_status kiwicha_check_simd_lstm_gates(const struct kiwicha_memory *memory,
                                                                const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_lstm_gates(&check, params, true);
    return check.status;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_simd_lstm(const struct kiwicha_memory *memory,
                                                          const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_lstm(&check, params, true);
    return check.status;
}

KIWICHA_INLINE void set_bias(const int32_t *bias)
{
    const int32_t bias_0 = bias[0], bias_1 = bias[1], bias_2 = bias[2], bias_3 = bias[3];
    kiwicha_cfu_bias(0, bias_0);
    kiwicha_cfu_bias(1, bias_1);
    kiwicha_cfu_bias(2, bias_2);
    kiwicha_cfu_bias(3, bias_3);
}

/** How sums of the gates are rescaled. */
struct gate_scales {
    struct kiwicha_lstm_scale small[KIWICHA_GATES]; /**< if all of them are */
    const int32_t *multiplier, *shift;              /**< if not */
};

static struct gate_scales scales_of(const int32_t *multiplier, const int32_t *shift)
{
    struct gate_scales scales = {.multiplier = multiplier, .shift = shift};
    for (uint32_t gate = 0; gate < KIWICHA_GATES; gate++) {
        scales.small[gate] = kiwicha_lstm_scale_of(multiplier[gate], shift[gate]);
    }
    return scales;
}

/** Returns the scaled sum of a gate; gate and flag are constants. */
KIWICHA_INLINE int32_t scaled(int32_t sum, const struct gate_scales *scales,
                              const enum kiwicha_gate gate, const bool is_small)
{
    return is_small ? kiwicha_lstm_rescale(sum, scales->small[gate])
                    : kiwicha_rescale(sum, scales->multiplier[gate], scales->shift[gate]);
}

/** Returns the scaled sums of a unit's gates; the flag is a constant. */
KIWICHA_INLINE struct kiwicha_lstm_sums
all_scaled(const int32_t *sums, const struct gate_scales *scales, const bool is_small)
{
    return (struct kiwicha_lstm_sums){
        scaled(sums[0], scales, KIWICHA_GATE_INPUT, is_small),
        scaled(sums[1], scales, KIWICHA_GATE_FORGET, is_small),
        scaled(sums[2], scales, KIWICHA_GATE_CELL, is_small),
        scaled(sums[3], scales, KIWICHA_GATE_OUTPUT, is_small),
    };
}

/** Reads a unit's gates, which are the lanes; the pixel is a constant. */
KIWICHA_INLINE void read_sums(const uint32_t pixel, int32_t *sums)
{
    sums[0] = kiwicha_cfu_read(pixel, 0);
    sums[1] = kiwicha_cfu_read(pixel, 1);
    sums[2] = kiwicha_cfu_read(pixel, 2);
    sums[3] = kiwicha_cfu_read(pixel, 3);
}

/** Returns two int16 in a word. */
KIWICHA_INLINE uint32_t pair(int32_t low, int32_t high)
{
    return ((uint32_t)low & UINT16_MAX) | (uint32_t)high << 16;
}

/** Writes the gates of a unit at one step; pixel and flag are constants. */
KIWICHA_INLINE void store_gates(const uint32_t pixel, const struct gate_scales *scales,
                                const bool is_small, kiwicha_word *output)
{
    int32_t sums[KIWICHA_GATES];
    read_sums(pixel, sums);
    struct kiwicha_lstm_sums x = all_scaled(sums, scales, is_small);
    if (__builtin_expect(kiwicha_lstm_excess(x) >> 16 != 0, 0)) {
        x.input = kiwicha_short(x.input);
        x.forget = kiwicha_short(x.forget);
        x.cell = kiwicha_short(x.cell);
        x.output = kiwicha_short(x.output);
    }
    output[0] = pair(x.input, x.forget);
    output[1] = pair(x.cell, x.output);
}

/** Computes the gates of all rows and units; the flag is a constant. */
KIWICHA_INLINE void run_gates(const struct kiwicha_memory *memory,
                              const struct kiwicha_lstm_gates *p, const bool is_small)
{
    const kiwicha_word *weights = kiwicha_source(memory, &p->weights);
    const int32_t *bias = kiwicha_source(memory, &p->bias);
    kiwicha_word *outputs = kiwicha_target(memory, &p->output);
    const struct gate_scales scales = scales_of(p->multiplier, p->shift);
    const uint32_t words = p->inputs / sizeof(kiwicha_word);
    const uint32_t pitch = OUTPUT_WORDS * p->units;
    for (uint32_t unit = 0; unit < p->units; unit++) {
        const kiwicha_word *input = kiwicha_source(memory, &p->input);
        kiwicha_word *output = outputs + OUTPUT_WORDS * unit;
        uint32_t rows = p->rows;
        set_bias(bias + KIWICHA_GATES * unit);
        for (; rows >= KIWICHA_PIXELS; rows -= KIWICHA_PIXELS) {
            kiwicha_cfu_start();
            kiwicha_simd_dot_4x4(input, input + words, input + 2 * words, input + 3 * words,
                                 weights, words);
            store_gates(0, &scales, is_small, output);
            store_gates(1, &scales, is_small, output + pitch);
            store_gates(2, &scales, is_small, output + 2 * pitch);
            store_gates(3, &scales, is_small, output + 3 * pitch);
            input += KIWICHA_PIXELS * words;
            output += KIWICHA_PIXELS * pitch;
        }
        for (; rows > 0; rows--) {
            kiwicha_cfu_start();
            kiwicha_simd_dot_1x4(input, weights, words);
            store_gates(0, &scales, is_small, output);
            input += words;
            output += pitch;
        }
        weights += KIWICHA_GATES * words;
    }
}

enum kiwicha_status kiwicha_run_simd_lstm_gates(const struct kiwicha_memory *memory,
                                                const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lstm_gates *p = params;
    kiwicha_cfu_input_offset(0);
    if (kiwicha_lstm_is_small(p->shift)) {
        run_gates(memory, p, true);
    } else {
        run_gates(memory, p, false);
    }
    return KIWICHA_STATUS_OK;
}

/** Where a step reads and writes. */
struct step {
    const kiwicha_word *weights;
    const int32_t *bias; /**< or null */
    const int8_t *hidden;
    const int16_t *added;
    int16_t *cells;
    int8_t *output;
};

/**
 * Adds the products of the hidden state, of one word or more; returns where the weights end.
 *
 * What the next word needs is loaded while the multiplier works. It is a function of its own for
 * the reason that `kiwicha_simd_dot_4x4` is one.
 */
static __attribute__((noinline)) const kiwicha_word *
dot_1x4(const kiwicha_word *hidden, const kiwicha_word *weights, uint32_t words)
{
    kiwicha_cfu_start();
    uint32_t a = hidden[0], w_0 = weights[0], w_1 = weights[1], w_2 = weights[2];
    uint32_t w_3 = weights[3];
    for (const kiwicha_word *end = hidden + words - 1; hidden != end;) {
        hidden++;
        weights += KIWICHA_GATES;
        kiwicha_cfu_mac(0, 0, a, w_0);
        w_0 = weights[0];
        kiwicha_cfu_mac(0, 1, a, w_1);
        w_1 = weights[1];
        kiwicha_cfu_mac(0, 2, a, w_2);
        w_2 = weights[2];
        kiwicha_cfu_mac(0, 3, a, w_3);
        w_3 = weights[3];
        a = hidden[0];
    }
    kiwicha_cfu_mac(0, 0, a, w_0);
    kiwicha_cfu_mac(0, 1, a, w_1);
    kiwicha_cfu_mac(0, 2, a, w_2);
    kiwicha_cfu_mac(0, 3, a, w_3);
    return weights + KIWICHA_GATES;
}

/** Computes a step; the flag is a constant. */
KIWICHA_INLINE void run_step(const struct kiwicha_lstm_cell *cell, const struct gate_scales *scales,
                             const struct kiwicha_lstm *p, struct step step, const bool is_small)
{
    const uint32_t words = p->units / sizeof(kiwicha_word);
    for (const int8_t *end = step.output + p->units; step.output != end; step.output++) {
        if (step.bias != NULL) {
            set_bias(step.bias);
            step.bias += KIWICHA_GATES;
        }
        step.weights = dot_1x4((const void *)step.hidden, step.weights, words);
        int32_t sums[KIWICHA_GATES];
        read_sums(0, sums);
        const int32_t product =
            kiwicha_lstm_unit(cell, step.added, all_scaled(sums, scales, is_small), step.cells++);
        const int32_t output =
            is_small ? kiwicha_lstm_rescale(product, cell->hidden)
                     : kiwicha_rescale(product, p->hidden_multiplier, p->hidden_shift);
        *step.output = kiwicha_lstm_output(output, cell->hidden_offset);
        step.added += KIWICHA_GATES;
    }
}

/** Computes all steps; the flag is a constant. */
KIWICHA_INLINE void run_steps(const struct kiwicha_memory *memory, const struct kiwicha_lstm *p,
                              const bool is_small)
{
    struct kiwicha_lstm_cell cell;
    kiwicha_lstm_begin(&cell, memory, p);
    const struct gate_scales scales = scales_of(p->multiplier, p->shift);
    const int16_t *added = kiwicha_source(memory, &p->input);
    int8_t *outputs = kiwicha_target(memory, &p->output);
    struct step step = {
        .weights = kiwicha_source(memory, &p->weights),
        .bias = p->bias.bytes != 0 ? kiwicha_source(memory, &p->bias) : NULL,
    };
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        int8_t *state = (int8_t *)kiwicha_target(memory, &p->hidden) + batch * p->units;
        step.cells = (int16_t *)kiwicha_target(memory, &p->cell) + batch * p->units;
        step.hidden = state;
        for (uint32_t number = 0; number < p->steps; number++) {
            const uint32_t first = (batch * p->batch_rows + number * p->step_rows) * p->units;
            step.added = added + KIWICHA_GATES * first;
            step.output = outputs + first;
            run_step(&cell, &scales, p, step, is_small);
            step.hidden = step.output;
        }
        memcpy(state, step.hidden, p->units);
    }
}

enum kiwicha_status kiwicha_run_simd_lstm(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lstm *p = params;
    static const int32_t no_bias[KIWICHA_GATES];
    set_bias(no_bias);
    kiwicha_cfu_input_offset(0);
    if (kiwicha_lstm_is_small(p->shift) && p->hidden_shift < 0) {
        run_steps(memory, p, true);
    } else {
        run_steps(memory, p, false);
    }
    return KIWICHA_STATUS_OK;
}
