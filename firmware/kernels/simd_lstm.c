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

/** Returns the scaled sums of a unit's gates, which are the lanes; pixel and flag are constants. */
KIWICHA_INLINE struct kiwicha_lstm_sums
gates_of(const uint32_t pixel, const struct gate_scales *scales, const bool is_small)
{
    const int32_t sum_0 = kiwicha_cfu_read(pixel, 0), sum_1 = kiwicha_cfu_read(pixel, 1);
    const int32_t sum_2 = kiwicha_cfu_read(pixel, 2), sum_3 = kiwicha_cfu_read(pixel, 3);
    if (is_small) {
        return (struct kiwicha_lstm_sums){
            kiwicha_lstm_rescale(sum_0, scales->small[0]),
            kiwicha_lstm_rescale(sum_1, scales->small[1]),
            kiwicha_lstm_rescale(sum_2, scales->small[2]),
            kiwicha_lstm_rescale(sum_3, scales->small[3]),
        };
    }
    return (struct kiwicha_lstm_sums){
        kiwicha_rescale(sum_0, scales->multiplier[0], scales->shift[0]),
        kiwicha_rescale(sum_1, scales->multiplier[1], scales->shift[1]),
        kiwicha_rescale(sum_2, scales->multiplier[2], scales->shift[2]),
        kiwicha_rescale(sum_3, scales->multiplier[3], scales->shift[3]),
    };
}

static struct gate_scales scales_of(const int32_t *multiplier, const int32_t *shift)
{
    struct gate_scales scales = {.multiplier = multiplier, .shift = shift};
    for (uint32_t gate = 0; gate < KIWICHA_GATES; gate++) {
        scales.small[gate] = kiwicha_lstm_scale_of(multiplier[gate], shift[gate]);
    }
    return scales;
}

/** Writes the gates of a unit at one step; pixel and flag are constants. */
KIWICHA_INLINE void store_gates(const uint32_t pixel, const struct gate_scales *scales,
                                const bool is_small, int16_t *output)
{
    struct kiwicha_lstm_sums x = gates_of(pixel, scales, is_small);
    if (__builtin_expect(kiwicha_lstm_excess(x) >> 16 != 0, 0)) {
        x.input = kiwicha_short(x.input);
        x.forget = kiwicha_short(x.forget);
        x.cell = kiwicha_short(x.cell);
        x.output = kiwicha_short(x.output);
    }
    output[KIWICHA_GATE_INPUT] = (int16_t)x.input;
    output[KIWICHA_GATE_FORGET] = (int16_t)x.forget;
    output[KIWICHA_GATE_CELL] = (int16_t)x.cell;
    output[KIWICHA_GATE_OUTPUT] = (int16_t)x.output;
}

/** Computes the gates of all rows and units; the flag is a constant. */
KIWICHA_INLINE void run_gates(const struct kiwicha_memory *memory,
                              const struct kiwicha_lstm_gates *p, const bool is_small)
{
    const kiwicha_word *weights = kiwicha_source(memory, &p->weights);
    const int32_t *bias = kiwicha_source(memory, &p->bias);
    int16_t *outputs = kiwicha_target(memory, &p->output);
    const struct gate_scales scales = scales_of(p->multiplier, p->shift);
    const uint32_t words = p->inputs / sizeof(kiwicha_word);
    const uint32_t pitch = KIWICHA_GATES * p->units;
    for (uint32_t unit = 0; unit < p->units; unit++) {
        const kiwicha_word *input = kiwicha_source(memory, &p->input);
        int16_t *output = outputs + KIWICHA_GATES * unit;
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
        kiwicha_cfu_start();
        step.weights = kiwicha_simd_dot_1x4((const void *)step.hidden, step.weights, words);
        const struct kiwicha_lstm_sums sums = gates_of(0, scales, is_small);
        const int32_t product = kiwicha_lstm_unit(cell, step.added, sums, step.cells++);
        const int32_t scaled =
            is_small ? kiwicha_lstm_rescale(product, cell->hidden)
                     : kiwicha_rescale(product, p->hidden_multiplier, p->hidden_shift);
        *step.output = kiwicha_lstm_output(scaled, cell->hidden_offset);
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
