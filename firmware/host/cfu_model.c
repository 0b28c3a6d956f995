#include "cfu_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kiwicha_isa.h"

#if KIWICHA_CONFIG_HAS_SIGNAL
#include "signal_model.h"
#endif

static struct {
    int32_t input_offset;
    int32_t output_offset;
    int32_t minimum;
    int32_t maximum;
    uint32_t bias[KIWICHA_LANES];
    int32_t multiplier[KIWICHA_LANES];
    int32_t shift[KIWICHA_LANES];
    uint32_t accumulator[KIWICHA_PIXELS][KIWICHA_LANES];
    uint32_t fifo[KIWICHA_RESULT_FIFO_DEPTH];
    uint32_t fifo_words;
} cfu;

static int32_t byte_of(uint32_t word, uint32_t index)
{
    return (int8_t)(word >> (8 * index));
}

/** Floor of x / 2**bits, which C leaves to the implementation for negative x. */
static int64_t floor_shift(int64_t x, uint32_t bits)
{
    return x >= 0 ? x >> bits : -((-x + (INT64_C(1) << bits) - 1) >> bits);
}

static int32_t rescale(uint32_t x, uint32_t lane)
{
    const int32_t shift = cfu.shift[lane];
    const int64_t left = (int32_t)(shift > 0 ? x << shift : x);
    int64_t value = floor_shift(left * cfu.multiplier[lane] + (INT64_C(1) << 30), 31);
    if (shift < 0) {
        const uint32_t bits = (uint32_t)-shift;
        const int64_t magnitude = value < 0 ? -value : value;
        const int64_t rounded = (magnitude + (INT64_C(1) << (bits - 1))) >> bits;
        value = value < 0 ? -rounded : rounded;
    }
    return (int32_t)value;
}

static int32_t requantize(uint32_t x, uint32_t lane)
{
    const int32_t value = (int32_t)((uint32_t)rescale(x, lane) + (uint32_t)cfu.output_offset);
    return value < cfu.minimum ? cfu.minimum : value > cfu.maximum ? cfu.maximum : value;
}

static uint32_t config(uint32_t op, uint32_t a, uint32_t b, uint32_t unknown)
{
    switch (op) {
    case KIWICHA_CONFIG_OP_ISA_VERSION:
        return KIWICHA_ISA_VERSION;
    case KIWICHA_CONFIG_OP_CONFIG_HASH:
        return KIWICHA_CONFIG_HASH;
    case KIWICHA_CONFIG_OP_CYCLES:
        return (uint32_t)clock();
    case KIWICHA_CONFIG_OP_INPUT_OFFSET:
        cfu.input_offset = (int32_t)((a & 0x1ff) ^ 0x100) - 0x100;
        return 0;
    case KIWICHA_CONFIG_OP_OUTPUT:
        cfu.output_offset = byte_of(a, 0);
        cfu.minimum = byte_of(b, 0);
        cfu.maximum = byte_of(b, 1);
        return 0;
    default:
        return unknown;
    }
}

static uint32_t mac(uint32_t *accumulator, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < 4; k++) {
        *accumulator += (uint32_t)((byte_of(a, k) + cfu.input_offset) * byte_of(b, k));
    }
    return 0;
}

static uint32_t mac_lanes(uint32_t pixel, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < KIWICHA_LANES; k++) {
        cfu.accumulator[pixel][k] += (uint32_t)((byte_of(a, k) + cfu.input_offset) * byte_of(b, k));
    }
    return 0;
}

static uint32_t accumulate(uint32_t op, uint32_t index, uint32_t a, uint32_t unknown)
{
    uint32_t *accumulator = &cfu.accumulator[index / KIWICHA_LANES][index % KIWICHA_LANES];
    switch (op) {
    case KIWICHA_ACCUMULATOR_OP_BIAS:
        if (index >= KIWICHA_LANES) {
            return unknown;
        }
        cfu.bias[index] = a;
        return 0;
    case KIWICHA_ACCUMULATOR_OP_START:
        if (index != 0) {
            return unknown;
        }
        for (uint32_t pixel = 0; pixel < KIWICHA_PIXELS; pixel++) {
            for (uint32_t lane = 0; lane < KIWICHA_LANES; lane++) {
                cfu.accumulator[pixel][lane] = cfu.bias[lane];
            }
        }
        return 0;
    case KIWICHA_ACCUMULATOR_OP_READ:
        return *accumulator;
    case KIWICHA_ACCUMULATOR_OP_WRITE:
        *accumulator = a;
        return 0;
    default:
        return unknown;
    }
}

static uint32_t push(uint32_t pixel)
{
    if (cfu.fifo_words == KIWICHA_RESULT_FIFO_DEPTH) {
        fputs("cfu model: PUSH while the result FIFO is full\n", stderr);
        abort();
    }
    uint32_t word = 0;
    for (uint32_t lane = 0; lane < KIWICHA_LANES; lane++) {
        uint32_t value = (uint8_t)requantize(cfu.accumulator[pixel][lane], lane);
        word |= value << (8 * lane);
    }
    cfu.fifo[cfu.fifo_words++] = word;
    return 0;
}

static uint32_t pop(void)
{
    if (cfu.fifo_words == 0) {
        return 0;
    }
    const uint32_t oldest = cfu.fifo[0];
    cfu.fifo_words--;
    for (uint32_t k = 0; k < cfu.fifo_words; k++) {
        cfu.fifo[k] = cfu.fifo[k + 1];
    }
    return oldest;
}

static uint32_t requantizer(uint32_t op, uint32_t index, uint32_t a, uint32_t b, uint32_t unknown)
{
    if (index >= (op == KIWICHA_REQUANTIZE_OP_POP ? 1 : KIWICHA_LANES)) {
        return unknown;
    }
    switch (op) {
    case KIWICHA_REQUANTIZE_OP_SCALE:
        cfu.multiplier[index] = (int32_t)a;
        cfu.shift[index] = (int32_t)b;
        return 0;
    case KIWICHA_REQUANTIZE_OP_PUSH:
        return push(index);
    case KIWICHA_REQUANTIZE_OP_POP:
        return pop();
    case KIWICHA_REQUANTIZE_OP_VALUE:
        return (uint32_t)requantize(a, index);
    case KIWICHA_REQUANTIZE_OP_RESCALE:
        return (uint32_t)rescale(a, index);
    default:
        return unknown;
    }
}

static uint32_t data(uint32_t op, uint32_t index, uint32_t a, uint32_t b, uint32_t unknown)
{
    uint32_t result = 0;
    switch (op) {
    case KIWICHA_DATA_OP_ALIGN:
        return index > 3 ? unknown : (uint32_t)(((uint64_t)b << 32 | a) >> (8 * index));
    case KIWICHA_DATA_OP_EXTRACT:
        return index > 3 ? unknown : (uint32_t)byte_of(a, index);
    case KIWICHA_DATA_OP_PACK:
        return index > 0 ? unknown : a >> 8 | b << 24;
    case KIWICHA_DATA_OP_MAX:
        if (index > 0) {
            return unknown;
        }
        for (uint32_t k = 0; k < 4; k++) {
            int32_t larger = byte_of(a, k) > byte_of(b, k) ? byte_of(a, k) : byte_of(b, k);
            result |= (uint32_t)(uint8_t)larger << (8 * k);
        }
        return result;
    default:
        return unknown;
    }
}

uint32_t kiwicha_cfu_model(uint32_t function_id, uint32_t a, uint32_t b)
{
    const uint32_t unknown = KIWICHA_UNKNOWN_RESPONSE + function_id;
    const uint32_t funct7 = function_id >> 3;
    const uint32_t op = funct7 >> 4;
    const uint32_t index = funct7 & 15;
    switch (function_id & 7) {
    case KIWICHA_GROUP_CONFIG:
        return index > 0 ? unknown : config(op, a, b, unknown);
    case KIWICHA_GROUP_MAC:
        return op > 0 ? unknown
                      : mac(&cfu.accumulator[index / KIWICHA_LANES][index % KIWICHA_LANES], a, b);
    case KIWICHA_GROUP_MAC_LANES:
        return op > 0 || index >= KIWICHA_PIXELS ? unknown : mac_lanes(index, a, b);
    case KIWICHA_GROUP_ACCUMULATOR:
        return accumulate(op, index, a, unknown);
    case KIWICHA_GROUP_REQUANTIZE:
        return requantizer(op, index, a, b, unknown);
    case KIWICHA_GROUP_DATA:
        return data(op, index, a, b, unknown);
#if KIWICHA_CONFIG_HAS_SIGNAL
    case KIWICHA_GROUP_SIGNAL:
        return signal_model(op, index, a, b, unknown);
#endif
    default:
        return unknown;
    }
}
