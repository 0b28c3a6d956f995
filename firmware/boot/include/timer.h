/* For LiteX's test of the memory: its timer counts down. A system with interrupts has it, and
 * LiteX's own functions; others have these. */
#ifndef KIWICHA_BOOT_TIMER_H
#define KIWICHA_BOOT_TIMER_H

#include <generated/csr.h>
#include <stdint.h>

#ifndef CSR_TIMER0_BASE

static inline void timer0_en_write(uint32_t value)
{
    (void)value;
}

static inline void timer0_reload_write(uint32_t value)
{
    (void)value;
}

static inline void timer0_load_write(uint32_t value)
{
    (void)value;
}

static inline void timer0_update_value_write(uint32_t value)
{
    (void)value;
}

static inline uint32_t timer0_value_read(void)
{
    uint32_t cycles;
    __asm__ volatile("csrr %0, mcycle" : "=r"(cycles) : : "memory");
    return ~cycles;
}

#endif

#endif
