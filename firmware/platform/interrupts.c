#include "interrupts.h"

#if KIWICHA_CONFIG_IS_PREEMPTIBLE

#include <stddef.h>

#include "kiwicha_soc.h"
#include "machine.h"

/* VexRiscv: which interrupts are taken, beside the bit that enables custom instructions; and which
 * of them wait. */
#define CSR_INTERRUPT_MASK "0xbc0"
#define CSR_INTERRUPT_PENDING "0xfc0"
#define CFU_ENABLE 0x80000000u

#define MSTATUS_MIE 0x8u
#define MIE_MEIE 0x800u
#define MCAUSE_EXTERNAL 0x8000000bu

#define ENGINE_BIT (1u << KIWICHA_INTERRUPT_ENGINE_EVENTS)
#define TIMER_BIT (1u << KIWICHA_INTERRUPT_TIMER0)

static void (*timer_function)(void);

static volatile uint32_t *register_at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

/* The entry of all traps. Registers are saved; the state of the CFU is not. */
static __attribute__((interrupt("machine"), aligned(4))) void take_trap(void)
{
    uint32_t cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause != MCAUSE_EXTERNAL) {
        uint32_t address;
        uint32_t value;
        __asm__ volatile("csrr %0, mepc\n\tcsrr %1, mtval" : "=r"(address), "=r"(value));
        kiwicha_platform_trap(cause, address, value);
    }
    uint32_t pending;
    __asm__ volatile("csrr %0, " CSR_INTERRUPT_PENDING : "=r"(pending));
    if ((pending & ENGINE_BIT) != 0) {
        *register_at(KIWICHA_CSR_ENGINE_EVENTS_EV_PENDING) = 1;
    }
    if ((pending & TIMER_BIT) != 0) {
        *register_at(KIWICHA_CSR_TIMER0_EV_PENDING) = 1;
        timer_function();
    }
}

void kiwicha_platform_set_timer(uint32_t cycles, uint32_t period_cycles)
{
    *register_at(KIWICHA_CSR_TIMER0_EN) = 0;
    *register_at(KIWICHA_CSR_TIMER0_LOAD) = cycles;
    *register_at(KIWICHA_CSR_TIMER0_RELOAD) = period_cycles;
    *register_at(KIWICHA_CSR_TIMER0_EN) = 1;
}

void kiwicha_platform_enable_interrupts(void (*on_timer)(void))
{
    timer_function = on_timer;
    uint32_t mask = CFU_ENABLE | ENGINE_BIT;
    *register_at(KIWICHA_CSR_ENGINE_EVENTS_EV_PENDING) = 1;
    *register_at(KIWICHA_CSR_ENGINE_EVENTS_EV_ENABLE) = 1;
    if (on_timer != NULL) {
        *register_at(KIWICHA_CSR_TIMER0_EV_PENDING) = 1;
        *register_at(KIWICHA_CSR_TIMER0_EV_ENABLE) = 1;
        mask |= TIMER_BIT;
    }
    __asm__ volatile("csrw mtvec, %0" : : "r"((uint32_t)(uintptr_t)&take_trap));
    /* The instruction directly after the write would trap if it were a custom one. */
    __asm__ volatile("csrw " CSR_INTERRUPT_MASK ", %0\n\tnop" : : "r"(mask) : "memory");
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_MEIE) : "memory");
    kiwicha_platform_unmask_interrupts();
}

void kiwicha_platform_sleep(void)
{
    /* It wakes for interrupts that are not taken, too. */
    __asm__ volatile("wfi" : : : "memory");
}

void kiwicha_platform_mask_interrupts(void)
{
    __asm__ volatile("csrc mstatus, %0" : : "r"(MSTATUS_MIE) : "memory");
}

void kiwicha_platform_unmask_interrupts(void)
{
    __asm__ volatile("csrs mstatus, %0" : : "r"(MSTATUS_MIE) : "memory");
}

#endif
