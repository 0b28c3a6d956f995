#include <stdbool.h>
#include <stddef.h>

#include "kernels.h"
#include "long_sums.h"
#include "lstm.h"
#include "move.h"
#include "short_products.h"
#include "shorts.h"

/** Steps of an LSTM whose hidden state is int16: no zero point, and sums have 64 bits. */
KIWICHA_SMALL enum kiwicha_status kiwicha_check_short_lstm(const struct kiwicha_memory *memory,
                                                           const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const struct kiwicha_lstm *p = params;
    struct kiwicha_lstm of_bytes = *p;
    of_bytes.output = kiwicha_as_bytes(p->output);
    of_bytes.hidden = kiwicha_as_bytes(p->hidden);
    kiwicha_require_lstm(&check, &of_bytes, false);
    kiwicha_require_short_output(&check, &p->output, INT16_MIN, INT16_MAX);
    kiwicha_require_short_output(&check, &p->hidden, INT16_MIN, INT16_MAX);
    kiwicha_require(&check, p->bias.bytes == 0 && p->hidden_offset == 0);
    for (uint32_t gate = 0; gate < KIWICHA_GATES; gate++) {
        kiwicha_require(&check, p->shift[gate] <= KIWICHA_MAX_LONG_SHIFT);
    }
    return check.status;
}

/** Returns what the hidden state adds to a gate of a unit, whose weights these are. */
static __attribute__((noinline)) int32_t scaled_sum(const struct kiwicha_lstm *p,
                                                    const int16_t *hidden, const int8_t *weights,
                                                    enum kiwicha_gate gate)
{
    const int64_t sum = kiwicha_short_products(hidden, weights + gate * p->units, p->units);
    return kiwicha_rescale_long(sum, p->multiplier[gate], p->shift[gate]);
}

/** What scales the sums of the gates if these have 32 bits, and results are at 2**32. */
struct factors {
    bool is_known; /**< of all gates */
    int32_t of[KIWICHA_GATES];
};

/** Sets the factors of a layer; without them its sums have 64 bits, or shifts are seldom ones. */
KIWICHA_SMALL static void set_factors(struct factors *factors, const struct kiwicha_lstm *p)
{
    factors->is_known = p->units <= KIWICHA_EXACT_PRODUCTS;
    for (uint32_t gate = 0; gate < KIWICHA_GATES; gate++) {
        const uint32_t bits = kiwicha_long_bits(p->shift[gate]);
        factors->is_known = factors->is_known && bits > KIWICHA_LONG_MULTIPLIER_BITS && bits <= 32;
        if (factors->is_known) {
            factors->of[gate] = (int32_t)(kiwicha_long_factor(p->multiplier[gate]) << (32 - bits));
        }
    }
}

/** Returns a sum of 32 bits as `kiwicha_rescale_long` would give it. */
static inline int32_t scaled(int32_t sum, int32_t factor)
{
    const int64_t product = (int64_t)sum * factor;
    return (int32_t)(product >> 32) + (int32_t)((uint32_t)product >> 31);
}

/**
 * Returns what the hidden state adds to the gates of a unit: each number is loaded once for four.
 *
 * It is a function of its own so that its sums and pointers are in registers.
 *
 * @param units of which `KIWICHA_EXACT_PRODUCTS` at most
 */
static __attribute__((noinline)) struct kiwicha_lstm_sums scaled_sums(const struct factors *factors,
                                                                      const int16_t *hidden,
                                                                      const int8_t *input,
                                                                      uint32_t units)
{
    const int8_t *forget = input + units, *cell = forget + units, *output = cell + units;
    struct kiwicha_lstm_sums sums = {0, 0, 0, 0};
    const int16_t *end = hidden + units;
    if (units % 2 != 0) {
        const int32_t x = *hidden++;
        sums.input = x * *input++;
        sums.forget = x * *forget++;
        sums.cell = x * *cell++;
        sums.output = x * *output++;
    }
    for (; hidden != end; hidden += 2, input += 2, forget += 2, cell += 2, output += 2) {
        const int32_t x = hidden[0], y = hidden[1];
        sums.input += x * input[0] + y * input[1];
        sums.forget += x * forget[0] + y * forget[1];
        sums.cell += x * cell[0] + y * cell[1];
        sums.output += x * output[0] + y * output[1];
    }
    sums.input = scaled(sums.input, factors->of[KIWICHA_GATE_INPUT]);
    sums.forget = scaled(sums.forget, factors->of[KIWICHA_GATE_FORGET]);
    sums.cell = scaled(sums.cell, factors->of[KIWICHA_GATE_CELL]);
    sums.output = scaled(sums.output, factors->of[KIWICHA_GATE_OUTPUT]);
    return sums;
}

enum kiwicha_status kiwicha_run_short_lstm(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lstm *p = params;
    struct kiwicha_lstm_cell cell;
    kiwicha_lstm_begin(&cell, memory, p);
    struct factors factors;
    set_factors(&factors, p);
    const int16_t *inputs = kiwicha_source(memory, &p->input);
    int16_t *outputs = kiwicha_target(memory, &p->output);
    const uint32_t units = p->units;
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        int16_t *state = (int16_t *)kiwicha_target(memory, &p->hidden) + batch * units;
        int16_t *cells = (int16_t *)kiwicha_target(memory, &p->cell) + batch * units;
        const int16_t *hidden = state;
        for (uint32_t step = 0; step < p->steps; step++) {
            const uint32_t first = (batch * p->batch_rows + step * p->step_rows) * units;
            const int8_t *weights = kiwicha_source(memory, &p->weights);
            const int16_t *input = inputs + KIWICHA_GATES * first;
            int16_t *output = outputs + first;
            for (uint32_t unit = 0; unit < units; unit++) {
                struct kiwicha_lstm_sums gates;
                if (factors.is_known) {
                    gates = scaled_sums(&factors, hidden, weights, units);
                } else {
                    gates.input = scaled_sum(p, hidden, weights, KIWICHA_GATE_INPUT);
                    gates.forget = scaled_sum(p, hidden, weights, KIWICHA_GATE_FORGET);
                    gates.cell = scaled_sum(p, hidden, weights, KIWICHA_GATE_CELL);
                    gates.output = scaled_sum(p, hidden, weights, KIWICHA_GATE_OUTPUT);
                }
                weights += KIWICHA_GATES * units;
                const int32_t product = kiwicha_lstm_unit(&cell, input, gates, &cells[unit]);
                output[unit] = (int16_t)kiwicha_short(kiwicha_lstm_scaled(&cell, p, product));
                input += KIWICHA_GATES;
            }
            hidden = output;
        }
        kiwicha_move(state, hidden, units * sizeof(*state));
    }
    return KIWICHA_STATUS_OK;
}
