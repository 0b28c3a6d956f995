#include <stddef.h>

#include "kernels.h"
#include "lstm.h"
#include "move.h"
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

/** Sets the scales of the gates, which are the lanes. */
static void set_scales(const int32_t *multiplier, const int32_t *shift)
{
    kiwicha_cfu_scale(0, multiplier[0], shift[0]);
    kiwicha_cfu_scale(1, multiplier[1], shift[1]);
    kiwicha_cfu_scale(2, multiplier[2], shift[2]);
    kiwicha_cfu_scale(3, multiplier[3], shift[3]);
}

/** Returns a unit's gates, scaled; the pixel is a constant. */
KIWICHA_INLINE struct kiwicha_lstm_sums read_gates(const uint32_t pixel)
{
    struct kiwicha_lstm_sums x;
    x.input = kiwicha_cfu_rescale(0, kiwicha_cfu_read(pixel, 0));
    x.forget = kiwicha_cfu_rescale(1, kiwicha_cfu_read(pixel, 1));
    x.cell = kiwicha_cfu_rescale(2, kiwicha_cfu_read(pixel, 2));
    x.output = kiwicha_cfu_rescale(3, kiwicha_cfu_read(pixel, 3));
    return x;
}

/** Returns two int16 in a word. */
KIWICHA_INLINE uint32_t pair(int32_t low, int32_t high)
{
    return ((uint32_t)low & UINT16_MAX) | (uint32_t)high << 16;
}

/** Writes the gates of a unit at one step; the pixel is a constant. */
KIWICHA_INLINE void store_gates(const uint32_t pixel, kiwicha_word *output)
{
    struct kiwicha_lstm_sums x = read_gates(pixel);
    if (__builtin_expect(kiwicha_lstm_excess(x) >> 16 != 0, 0)) {
        x.input = kiwicha_short(x.input);
        x.forget = kiwicha_short(x.forget);
        x.cell = kiwicha_short(x.cell);
        x.output = kiwicha_short(x.output);
    }
    output[0] = pair(x.input, x.forget);
    output[1] = pair(x.cell, x.output);
}

enum kiwicha_status kiwicha_run_simd_lstm_gates(const struct kiwicha_memory *memory,
                                                const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lstm_gates *p = params;
    const kiwicha_word *weights = kiwicha_source(memory, &p->weights);
    const int32_t *bias = kiwicha_source(memory, &p->bias);
    kiwicha_word *outputs = kiwicha_target(memory, &p->output);
    const uint32_t words = p->inputs / sizeof(kiwicha_word);
    const uint32_t pitch = OUTPUT_WORDS * p->units;
    kiwicha_cfu_input_offset(0);
    set_scales(p->multiplier, p->shift);
    for (uint32_t unit = 0; unit < p->units; unit++) {
        const kiwicha_word *input = kiwicha_source(memory, &p->input);
        kiwicha_word *output = outputs + OUTPUT_WORDS * unit;
        uint32_t rows = p->rows;
        set_bias(bias + KIWICHA_GATES * unit);
        for (; rows >= KIWICHA_PIXELS; rows -= KIWICHA_PIXELS) {
            kiwicha_cfu_start();
            kiwicha_simd_dot_4x4(input, input + words, input + 2 * words, input + 3 * words,
                                 weights, words);
            store_gates(0, output);
            store_gates(1, output + pitch);
            store_gates(2, output + 2 * pitch);
            store_gates(3, output + 3 * pitch);
            input += KIWICHA_PIXELS * words;
            output += KIWICHA_PIXELS * pitch;
        }
        for (; rows > 0; rows--) {
            kiwicha_cfu_start();
            kiwicha_simd_dot_1x4(input, weights, words);
            store_gates(0, output);
            input += words;
            output += pitch;
        }
        weights += KIWICHA_GATES * words;
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

/** Computes a step. */
static void run_step(const struct kiwicha_lstm_cell *cell, const struct kiwicha_lstm *p,
                     struct step step)
{
    const uint32_t words = p->units / sizeof(kiwicha_word);
    for (const int8_t *end = step.output + p->units; step.output != end; step.output++) {
        if (step.bias != NULL) {
            set_bias(step.bias);
            step.bias += KIWICHA_GATES;
        }
        step.weights = dot_1x4((const void *)step.hidden, step.weights, words);
        const int32_t product = kiwicha_lstm_unit(cell, step.added, read_gates(0), step.cells++);
        *step.output = kiwicha_lstm_output(cell, p, product);
        step.added += KIWICHA_GATES;
    }
}

enum kiwicha_status kiwicha_run_simd_lstm(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lstm *p = params;
    struct kiwicha_lstm_cell cell;
    kiwicha_lstm_begin(&cell, memory, p);
    const int16_t *added = kiwicha_source(memory, &p->input);
    int8_t *outputs = kiwicha_target(memory, &p->output);
    static const int32_t no_bias[KIWICHA_GATES];
    struct step step = {
        .weights = kiwicha_source(memory, &p->weights),
        .bias = p->bias.bytes != 0 ? kiwicha_source(memory, &p->bias) : NULL,
    };
    set_bias(no_bias);
    kiwicha_cfu_input_offset(0);
    set_scales(p->multiplier, p->shift);
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        int8_t *state = (int8_t *)kiwicha_target(memory, &p->hidden) + batch * p->units;
        step.cells = (int16_t *)kiwicha_target(memory, &p->cell) + batch * p->units;
        step.hidden = state;
        for (uint32_t number = 0; number < p->steps; number++) {
            const uint32_t first = (batch * p->batch_rows + number * p->step_rows) * p->units;
            step.added = added + KIWICHA_GATES * first;
            step.output = outputs + first;
            run_step(&cell, p, step);
            step.hidden = step.output;
        }
        kiwicha_move(state, step.hidden, p->units);
    }
    return KIWICHA_STATUS_OK;
}
