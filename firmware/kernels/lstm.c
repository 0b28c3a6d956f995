#include "lstm.h"

#include <stddef.h>

#include "kernels.h"
#include "move.h"

KIWICHA_SMALL static void require_scales(struct kiwicha_check *check, const int32_t *multiplier,
                                         const int32_t *shift)
{
    for (uint32_t gate = 0; gate < KIWICHA_GATES; gate++) {
        kiwicha_require_scale(check, multiplier[gate], shift[gate]);
    }
}

KIWICHA_SMALL void kiwicha_require_lstm_gates(struct kiwicha_check *check,
                                              const struct kiwicha_lstm_gates *p, bool is_simd)
{
    const uint32_t channels = kiwicha_saturating_multiply(p->units, KIWICHA_GATES);
    const uint32_t alignment = is_simd ? sizeof(kiwicha_word) : 1;
    kiwicha_require(check, !is_simd || p->inputs % sizeof(kiwicha_word) == 0);
    kiwicha_require_source(check, &p->input, kiwicha_saturating_multiply(p->rows, p->inputs),
                           alignment);
    const uint32_t outputs[] = {p->rows, channels, sizeof(int16_t)};
    kiwicha_require_target(check, &p->output, kiwicha_saturating_product(outputs, 3),
                           is_simd ? sizeof(kiwicha_word) : sizeof(int16_t));
    kiwicha_require_source(check, &p->weights, kiwicha_saturating_multiply(channels, p->inputs),
                           alignment);
    kiwicha_require_source(check, &p->bias, kiwicha_saturating_multiply(channels, sizeof(int32_t)),
                           sizeof(int32_t));
    require_scales(check, p->multiplier, p->shift);
}

KIWICHA_SMALL void kiwicha_require_lstm(struct kiwicha_check *check, const struct kiwicha_lstm *p,
                                        bool is_simd)
{
    const uint32_t alignment = is_simd ? sizeof(kiwicha_word) : 1;
    const uint32_t rows = kiwicha_saturating_multiply(p->batches, p->steps);
    const uint32_t channels = kiwicha_saturating_multiply(p->units, KIWICHA_GATES);
    const uint32_t states = kiwicha_saturating_multiply(p->batches, p->units);
    const uint32_t inputs[] = {rows, channels, sizeof(int16_t)};
    kiwicha_require(check, !is_simd || p->units % sizeof(kiwicha_word) == 0);
    /* One of both is the number of the others. */
    kiwicha_require(check, (p->batch_rows == 1 && p->step_rows == p->batches) ||
                               (p->step_rows == 1 && p->batch_rows == p->steps));
    kiwicha_require_source(check, &p->input, kiwicha_saturating_product(inputs, 3),
                           sizeof(int16_t));
    kiwicha_require_target(check, &p->output, kiwicha_saturating_multiply(rows, p->units),
                           alignment);
    kiwicha_require_target(check, &p->hidden, states, alignment);
    kiwicha_require_target(check, &p->cell, kiwicha_saturating_multiply(states, sizeof(int16_t)),
                           sizeof(int16_t));
    kiwicha_require_source(check, &p->weights, kiwicha_saturating_multiply(channels, p->units),
                           alignment);
    if (p->bias.bytes != 0) {
        kiwicha_require_source(check, &p->bias,
                               kiwicha_saturating_multiply(channels, sizeof(int32_t)),
                               sizeof(int32_t));
    }
    kiwicha_require_source(check, &p->points, KIWICHA_LSTM_POINTS * sizeof(int16_t),
                           sizeof(int16_t));
    require_scales(check, p->multiplier, p->shift);
    kiwicha_require_scale(check, p->hidden_multiplier, p->hidden_shift);
    kiwicha_require_range(check, p->hidden_offset, INT8_MIN, INT8_MAX);
    kiwicha_require_range(check, p->cell_exponent, -KIWICHA_LSTM_FRACTION_BITS, 0);
    kiwicha_require_range(check, p->cell_min, INT16_MIN, INT16_MAX);
    kiwicha_require_range(check, p->cell_max, p->cell_min, INT16_MAX);
}

KIWICHA_SMALL void kiwicha_lstm_begin(struct kiwicha_lstm_cell *cell,
                                      const struct kiwicha_memory *memory,
                                      const struct kiwicha_lstm *p)
{
    const int32_t left = p->cell_exponent + 12; /* of an argument in 2**-12, times 3 */
    const uint32_t tanh_shift = left < 0 ? (uint32_t)-left : 0;
    cell->points = kiwicha_source(memory, &p->points);
    cell->hidden_factor = 2 * (uint32_t)p->hidden_multiplier;
    cell->hidden_shift = p->hidden_shift < 0 ? -1 - p->hidden_shift : -1;
    cell->hidden_offset = p->hidden_offset;
    cell->enter_shift = (uint32_t)(2 * KIWICHA_LSTM_FRACTION_BITS + p->cell_exponent);
    cell->enter_half = 1 << (cell->enter_shift - 1);
    cell->tanh_factor = 3 << (left > 0 ? left : 0);
    cell->tanh_shift = tanh_shift;
    cell->tanh_half = (1 << tanh_shift) >> 1;
    cell->minimum = p->cell_min;
    cell->range = (uint32_t)(p->cell_max - p->cell_min);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_lstm_gates(const struct kiwicha_memory *memory,
                                                           const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_lstm_gates(&check, params, false);
    return check.status;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_lstm(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_lstm(&check, params, false);
    return check.status;
}

static int32_t dot(const int8_t *a, const int8_t *b, uint32_t count, int32_t start)
{
    uint32_t sum = (uint32_t)start;
    for (uint32_t k = 0; k < count; k++) {
        sum += (uint32_t)(a[k] * b[k]);
    }
    return (int32_t)sum;
}

enum kiwicha_status kiwicha_run_lstm_gates(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lstm_gates *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    const int32_t *bias = kiwicha_source(memory, &p->bias);
    int16_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t row = 0; row < p->rows; row++) {
        const int8_t *weights = kiwicha_source(memory, &p->weights);
        for (uint32_t channel = 0; channel < KIWICHA_GATES * p->units; channel++) {
            const uint32_t gate = channel % KIWICHA_GATES;
            const int32_t sum = dot(input, weights, p->inputs, bias[channel]);
            const int32_t scaled = kiwicha_rescale(sum, p->multiplier[gate], p->shift[gate]);
            *output++ = (int16_t)kiwicha_short(scaled);
            weights += p->inputs;
        }
        input += p->inputs;
    }
    return KIWICHA_STATUS_OK;
}

/** Returns what the hidden state adds to a gate of a unit, whose weights and biases these are. */
static __attribute__((noinline)) int32_t scaled_sum(const struct kiwicha_lstm *p,
                                                    const int8_t *hidden, const int8_t *weights,
                                                    const int32_t *bias, enum kiwicha_gate gate)
{
    const int32_t start = bias != NULL ? bias[gate] : 0;
    const int32_t sum = dot(hidden, weights + gate * p->units, p->units, start);
    return kiwicha_rescale(sum, p->multiplier[gate], p->shift[gate]);
}

enum kiwicha_status kiwicha_run_lstm(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lstm *p = params;
    struct kiwicha_lstm_cell cell;
    kiwicha_lstm_begin(&cell, memory, p);
    const int16_t *inputs = kiwicha_source(memory, &p->input);
    const int32_t *bias = p->bias.bytes != 0 ? kiwicha_source(memory, &p->bias) : NULL;
    int8_t *outputs = kiwicha_target(memory, &p->output);
    const uint32_t units = p->units;
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        int8_t *state = (int8_t *)kiwicha_target(memory, &p->hidden) + batch * units;
        int16_t *cells = (int16_t *)kiwicha_target(memory, &p->cell) + batch * units;
        const int8_t *hidden = state;
        for (uint32_t step = 0; step < p->steps; step++) {
            const uint32_t first = (batch * p->batch_rows + step * p->step_rows) * units;
            const int8_t *weights = kiwicha_source(memory, &p->weights);
            int8_t *output = outputs + first;
            for (uint32_t unit = 0; unit < units; unit++) {
                const int16_t *input = inputs + KIWICHA_GATES * (first + unit);
                const int32_t *start = bias != NULL ? bias + KIWICHA_GATES * unit : NULL;
                struct kiwicha_lstm_sums gates;
                gates.input = scaled_sum(p, hidden, weights, start, KIWICHA_GATE_INPUT);
                gates.forget = scaled_sum(p, hidden, weights, start, KIWICHA_GATE_FORGET);
                gates.cell = scaled_sum(p, hidden, weights, start, KIWICHA_GATE_CELL);
                gates.output = scaled_sum(p, hidden, weights, start, KIWICHA_GATE_OUTPUT);
                weights += KIWICHA_GATES * units;
                const int32_t product = kiwicha_lstm_unit(&cell, input, gates, &cells[unit]);
                output[unit] = kiwicha_lstm_output(&cell, p, product);
            }
            hidden = output;
        }
        kiwicha_move(state, hidden, units);
    }
    return KIWICHA_STATUS_OK;
}
