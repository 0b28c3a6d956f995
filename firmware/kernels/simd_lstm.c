#include <stddef.h>
#include <string.h>

#include "kernels.h"
#include "lstm.h"
#include "simd_matrix.h"

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

/** Sets the scales of the gates, which are the lanes. */
static void set_scales(const int32_t *multiplier, const int32_t *shift)
{
    kiwicha_cfu_scale(0, multiplier[0], shift[0]);
    kiwicha_cfu_scale(1, multiplier[1], shift[1]);
    kiwicha_cfu_scale(2, multiplier[2], shift[2]);
    kiwicha_cfu_scale(3, multiplier[3], shift[3]);
}

KIWICHA_INLINE void set_bias(const int32_t *bias)
{
    const int32_t bias_0 = bias[0], bias_1 = bias[1], bias_2 = bias[2], bias_3 = bias[3];
    kiwicha_cfu_bias(0, bias_0);
    kiwicha_cfu_bias(1, bias_1);
    kiwicha_cfu_bias(2, bias_2);
    kiwicha_cfu_bias(3, bias_3);
}

/** Returns a gate's sum, limited to int16; pixel and gate are constants. */
KIWICHA_INLINE int32_t gate_of(const uint32_t pixel, const uint32_t gate)
{
    return kiwicha_short(kiwicha_cfu_rescale(gate, kiwicha_cfu_read(pixel, gate)));
}

/** Writes the gates of a unit at one step; `pixel` is a constant. */
KIWICHA_INLINE void store_gates(const uint32_t pixel, int16_t *output)
{
    output[0] = (int16_t)gate_of(pixel, 0);
    output[1] = (int16_t)gate_of(pixel, 1);
    output[2] = (int16_t)gate_of(pixel, 2);
    output[3] = (int16_t)gate_of(pixel, 3);
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
    int16_t *outputs = kiwicha_target(memory, &p->output);
    const uint32_t words = p->inputs / sizeof(kiwicha_word);
    const uint32_t pitch = KIWICHA_GATES * p->units;
    kiwicha_cfu_input_offset(0);
    set_scales(p->multiplier, p->shift);
    for (uint32_t unit = 0; unit < p->units; unit++) {
        const kiwicha_word *input = kiwicha_source(memory, &p->input);
        int16_t *output = outputs + KIWICHA_GATES * unit;
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

/** Computes a step: hidden state to output. */
static void run_step(const struct kiwicha_lstm_cell *cell, uint32_t units,
                     const kiwicha_word *weights, const int32_t *bias, const kiwicha_word *hidden,
                     const int16_t *input, int16_t *cells, int8_t *output)
{
    const uint32_t words = units / sizeof(kiwicha_word);
    for (const int8_t *end = output + units; output != end; output++) {
        if (bias != NULL) {
            set_bias(bias);
            bias += KIWICHA_GATES;
        }
        kiwicha_cfu_start();
        weights = kiwicha_simd_dot_1x4(hidden, weights, words);
        const int32_t gates[KIWICHA_GATES] = {
            kiwicha_short(input[0] + gate_of(0, 0)),
            kiwicha_short(input[1] + gate_of(0, 1)),
            kiwicha_short(input[2] + gate_of(0, 2)),
            kiwicha_short(input[3] + gate_of(0, 3)),
        };
        const int32_t product = kiwicha_lstm_unit(cell, gates, cells++);
        /* The first lane's scale is borrowed. */
        kiwicha_cfu_scale(0, cell->hidden_multiplier, cell->hidden_shift);
        *output = kiwicha_lstm_output(kiwicha_cfu_rescale(0, product), cell->hidden_offset);
        kiwicha_cfu_scale(0, cell->multiplier[0], cell->shift[0]);
        input += KIWICHA_GATES;
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
    const int16_t *inputs = kiwicha_source(memory, &p->input);
    int8_t *outputs = kiwicha_target(memory, &p->output);
    static const int32_t no_bias[KIWICHA_GATES];
    const int32_t *bias = p->bias.bytes != 0 ? kiwicha_source(memory, &p->bias) : NULL;
    set_bias(no_bias);
    kiwicha_cfu_input_offset(0);
    set_scales(p->multiplier, p->shift);
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        int8_t *state = (int8_t *)kiwicha_target(memory, &p->hidden) + batch * p->units;
        int16_t *cells = (int16_t *)kiwicha_target(memory, &p->cell) + batch * p->units;
        const int8_t *hidden = state;
        for (uint32_t step = 0; step < p->steps; step++) {
            const uint32_t first = (batch * p->batch_rows + step * p->step_rows) * p->units;
            run_step(&cell, p->units, kiwicha_source(memory, &p->weights), bias,
                     (const void *)hidden, inputs + KIWICHA_GATES * first, cells, outputs + first);
            hidden = outputs + first;
        }
        memcpy(state, hidden, p->units);
    }
    return KIWICHA_STATUS_OK;
}
