/* What the library asks of a machine, by the functions that LiteX generates for a system. */

#include <generated/csr.h>
#include <stddef.h>
#include <stdint.h>

#include "kiwicha_isa.h"
#include "runtime/platform.h"

/* LiteX's start-up code has an entry of interrupts, of which this application has none. */
void isr(void);

void isr(void)
{
}

uint32_t kiwicha_platform_cycles(void)
{
    uint32_t cycles;
    __asm__ volatile("csrr %0, mcycle" : "=r"(cycles) : : "memory");
    return cycles;
}

void kiwicha_platform_enable_cfu(void)
{
#if KIWICHA_CONFIG_HAS_SIMD
    /* LiteX calls this register its interrupt mask, and writes it in irq_setmask(): keep bit 31. */
    __asm__ volatile("csrs 0xbc0, %0\n\tnop" : : "r"(0x80000000u) : "memory");
#endif
}

#if KIWICHA_CONFIG_ENGINE_MACS

void kiwicha_platform_drain_stores(void)
{
    while (dram_bridge_drained_read() == 0) {
    }
}

void kiwicha_platform_forget_cached(void)
{
    /* VexRiscv: invalidates the whole data cache. */
    __asm__ volatile(".word 0x500f" : : : "memory");
}

#endif

void kiwicha_platform_print(const char *text)
{
    for (; *text != '\0'; ++text) {
        while (uart_txfull_read() != 0) {
        }
        uart_rxtx_write(*text);
    }
}
