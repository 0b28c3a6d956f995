/**
 * The custom instructions of the CFU's instruction tier, one function each; `kiwicha.contract.cfu`
 * defines what they do.
 *
 * Lane, pixel and byte numbers become part of the instruction, so they must be constants after
 * inlining. On RISC-V a function is one instruction; elsewhere it calls a model in C, if there is
 * one.
 */
#ifndef KIWICHA_CFU_H
#define KIWICHA_CFU_H

#include <stdint.h>

#include "kiwicha_isa.h"

#define KIWICHA_INLINE static inline __attribute__((always_inline))

#if defined(__riscv) && __riscv_xlen == 32

#if !defined(__OPTIMIZE__)
#error "Compile with -O1 or more: the numbers in custom instructions must become constants."
#endif

/* z: a zero operand is the register x0. */
#define KIWICHA_CFU_INSTRUCTION ".insn r %3, %4, %5, %0, %z1, %z2"
#define KIWICHA_CFU_OPERANDS(group, op, index, a, b)                                               \
    "rJ"(a), "rJ"(b), "i"(KIWICHA_OPCODE_CUSTOM_0), "i"(group), "i"((op) * 16 + (index))

/** Executes an instruction that depends on the CFU's state; returns its answer. */
KIWICHA_INLINE uint32_t kiwicha_cfu_ask(enum kiwicha_group group, uint32_t op, uint32_t index,
                                        uint32_t a, uint32_t b)
{
    uint32_t answer;
    __asm__ volatile(KIWICHA_CFU_INSTRUCTION
                     : "=r"(answer)
                     : KIWICHA_CFU_OPERANDS(group, op, index, a, b));
    return answer;
}

/** Executes an instruction whose answer depends on its operands alone. */
KIWICHA_INLINE uint32_t kiwicha_cfu_compute(enum kiwicha_group group, uint32_t op, uint32_t index,
                                            uint32_t a, uint32_t b)
{
    uint32_t answer;
    __asm__(KIWICHA_CFU_INSTRUCTION : "=r"(answer) : KIWICHA_CFU_OPERANDS(group, op, index, a, b));
    return answer;
}

/** Executes an instruction for its effect; its answer goes to x0, so no register is lost. */
KIWICHA_INLINE void kiwicha_cfu_do(enum kiwicha_group group, uint32_t op, uint32_t index,
                                   uint32_t a, uint32_t b)
{
    __asm__ volatile(".insn r %2, %3, %4, x0, %z0, %z1"
                     :
                     : KIWICHA_CFU_OPERANDS(group, op, index, a, b));
}

#else

#if !defined(KIWICHA_HAS_CFU_MODEL)
#error "This machine has no CFU: compile the model for baseline, or see README.md for a model of it"
#endif

#include "../host/cfu_model.h"

KIWICHA_INLINE uint32_t kiwicha_cfu_ask(enum kiwicha_group group, uint32_t op, uint32_t index,
                                        uint32_t a, uint32_t b)
{
    return kiwicha_cfu_model((op * 16 + index) * 8 + group, a, b);
}

KIWICHA_INLINE uint32_t kiwicha_cfu_compute(enum kiwicha_group group, uint32_t op, uint32_t index,
                                            uint32_t a, uint32_t b)
{
    return kiwicha_cfu_ask(group, op, index, a, b);
}

KIWICHA_INLINE void kiwicha_cfu_do(enum kiwicha_group group, uint32_t op, uint32_t index,
                                   uint32_t a, uint32_t b)
{
    kiwicha_cfu_ask(group, op, index, a, b);
}

#endif

KIWICHA_INLINE uint32_t kiwicha_cfu_config_hash(void)
{
    return kiwicha_cfu_ask(KIWICHA_GROUP_CONFIG, KIWICHA_CONFIG_OP_CONFIG_HASH, 0, 0, 0);
}

KIWICHA_INLINE void kiwicha_cfu_input_offset(int32_t offset)
{
    kiwicha_cfu_do(KIWICHA_GROUP_CONFIG, KIWICHA_CONFIG_OP_INPUT_OFFSET, 0, (uint32_t)offset, 0);
}

KIWICHA_INLINE void kiwicha_cfu_output(int32_t offset, int32_t minimum, int32_t maximum)
{
    kiwicha_cfu_do(KIWICHA_GROUP_CONFIG, KIWICHA_CONFIG_OP_OUTPUT, 0, (uint32_t)offset,
                   ((uint32_t)minimum & 0xff) | ((uint32_t)maximum & 0xff) << 8);
}

KIWICHA_INLINE void kiwicha_cfu_mac(uint32_t pixel, uint32_t lane, uint32_t a, uint32_t b)
{
    kiwicha_cfu_do(KIWICHA_GROUP_MAC, 0, pixel * KIWICHA_LANES + lane, a, b);
}

KIWICHA_INLINE void kiwicha_cfu_mac_lanes(uint32_t pixel, uint32_t a, uint32_t b)
{
    kiwicha_cfu_do(KIWICHA_GROUP_MAC_LANES, 0, pixel, a, b);
}

KIWICHA_INLINE void kiwicha_cfu_bias(uint32_t lane, int32_t bias)
{
    kiwicha_cfu_do(KIWICHA_GROUP_ACCUMULATOR, KIWICHA_ACCUMULATOR_OP_BIAS, lane, (uint32_t)bias, 0);
}

KIWICHA_INLINE void kiwicha_cfu_start(void)
{
    kiwicha_cfu_do(KIWICHA_GROUP_ACCUMULATOR, KIWICHA_ACCUMULATOR_OP_START, 0, 0, 0);
}

KIWICHA_INLINE void kiwicha_cfu_write(uint32_t pixel, uint32_t lane, int32_t accumulator)
{
    kiwicha_cfu_do(KIWICHA_GROUP_ACCUMULATOR, KIWICHA_ACCUMULATOR_OP_WRITE,
                   pixel * KIWICHA_LANES + lane, (uint32_t)accumulator, 0);
}

KIWICHA_INLINE int32_t kiwicha_cfu_read(uint32_t pixel, uint32_t lane)
{
    return (int32_t)kiwicha_cfu_ask(KIWICHA_GROUP_ACCUMULATOR, KIWICHA_ACCUMULATOR_OP_READ,
                                    pixel * KIWICHA_LANES + lane, 0, 0);
}

KIWICHA_INLINE void kiwicha_cfu_scale(uint32_t lane, int32_t multiplier, int32_t shift)
{
    kiwicha_cfu_do(KIWICHA_GROUP_REQUANTIZE, KIWICHA_REQUANTIZE_OP_SCALE, lane,
                   (uint32_t)multiplier, (uint32_t)shift);
}

KIWICHA_INLINE void kiwicha_cfu_push(uint32_t pixel)
{
    kiwicha_cfu_do(KIWICHA_GROUP_REQUANTIZE, KIWICHA_REQUANTIZE_OP_PUSH, pixel, 0, 0);
}

KIWICHA_INLINE uint32_t kiwicha_cfu_pop(void)
{
    return kiwicha_cfu_ask(KIWICHA_GROUP_REQUANTIZE, KIWICHA_REQUANTIZE_OP_POP, 0, 0, 0);
}

KIWICHA_INLINE uint32_t kiwicha_cfu_value(uint32_t lane, int32_t accumulator)
{
    return kiwicha_cfu_ask(KIWICHA_GROUP_REQUANTIZE, KIWICHA_REQUANTIZE_OP_VALUE, lane,
                           (uint32_t)accumulator, 0);
}

KIWICHA_INLINE int32_t kiwicha_cfu_rescale(uint32_t lane, int32_t value)
{
    return (int32_t)kiwicha_cfu_ask(KIWICHA_GROUP_REQUANTIZE, KIWICHA_REQUANTIZE_OP_RESCALE, lane,
                                    (uint32_t)value, 0);
}

KIWICHA_INLINE uint32_t kiwicha_cfu_pack(uint32_t word, uint32_t byte)
{
    return kiwicha_cfu_compute(KIWICHA_GROUP_DATA, KIWICHA_DATA_OP_PACK, 0, word, byte);
}

KIWICHA_INLINE uint32_t kiwicha_cfu_max(uint32_t a, uint32_t b)
{
    return kiwicha_cfu_compute(KIWICHA_GROUP_DATA, KIWICHA_DATA_OP_MAX, 0, a, b);
}

#endif
