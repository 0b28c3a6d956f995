#include "instructions.h"

#include "kiwicha_isa.h"
#include "platform.h"

/* The fields of an instruction of type R. */
#define REGISTER_A0 10u
#define REGISTER_A1 11u
#define AT_RD 7
#define AT_FUNCT3 12
#define AT_RS1 15
#define AT_RS2 20
#define AT_FUNCT7 25
#define FUNCT3_BITS 3
#define RETURN 0x00008067u

typedef uint32_t two_operands(uint32_t a, uint32_t b);

/* Numbers of instructions are part of them, so a function is written for each. */
static volatile uint32_t code[2] __attribute__((aligned(32)));

static uint32_t execute(uint32_t function_id, uint32_t a, uint32_t b)
{
    const uint32_t funct3 = function_id & ((1u << FUNCT3_BITS) - 1);
    const uint32_t funct7 = function_id >> FUNCT3_BITS;
    code[0] = KIWICHA_OPCODE_CUSTOM_0 | REGISTER_A0 << AT_RD | funct3 << AT_FUNCT3 |
              REGISTER_A0 << AT_RS1 | REGISTER_A1 << AT_RS2 | funct7 << AT_FUNCT7;
    code[1] = RETURN;
    /* It reads a register behind the stores, so these are done; and an engine that is started reads
     * what was stored to DRAM. */
    kiwicha_platform_drain_stores();
    /* VexRiscv: forgets the instruction cache, and what the pipeline holds of it. */
    __asm__ volatile(".word 0x100f\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop" : : : "memory");
    return ((two_operands *)(uintptr_t)code)(a, b);
}

void kiwicha_execute_instructions(uint32_t table, uint32_t count, uint32_t answers)
{
    const struct kiwicha_serial_instruction *each =
        (const struct kiwicha_serial_instruction *)(uintptr_t)table;
    volatile uint32_t *answer = (volatile uint32_t *)(uintptr_t)answers;
    for (uint32_t number = 0; number < count; ++number) {
        answer[number] =
            execute(each[number].function_id, each[number].inputs_0, each[number].inputs_1);
    }
}
