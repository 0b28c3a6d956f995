/* What the library asks of your machine, to be filled in: runtime/platform.h says what each
 * function must do. For the CPU of a Kiwicha system, everything is here but the serial port. */
#include "runtime/platform.h"

#include "kiwicha_isa.h"

#if defined(__riscv)

uint32_t kiwicha_platform_cycles(void)
{
    uint32_t cycles;
    __asm__ volatile("csrr %0, mcycle" : "=r"(cycles) : : "memory");
    return cycles;
}

#else

uint32_t kiwicha_platform_cycles(void)
{
    /* Fill in: a counter of cycles. With 0 everything works, and no cycles are reported. */
    return 0;
}

#endif

void kiwicha_platform_enable_cfu(void)
{
#if KIWICHA_CONFIG_HAS_SIMD && defined(__riscv)
    /* VexRiscv: the top bit of its interrupt mask; the next instruction would still trap. LiteX
     * writes that mask, too: keep the bit set there. */
    __asm__ volatile("csrs 0xbc0, %0\n\tnop" : : "r"(0x80000000u) : "memory");
#endif
}

#if KIWICHA_CONFIG_ENGINE_MACS

void kiwicha_platform_drain_stores(void)
{
#if defined(KIWICHA_CSR_DRAM_BRIDGE_DRAINED)
    while (*(volatile uint32_t *)(uintptr_t)KIWICHA_CSR_DRAM_BRIDGE_DRAINED == 0) {
    }
#elif defined(__riscv)
#error                                                                                             \
    "Define KIWICHA_CSR_DRAM_BRIDGE_DRAINED: the address of that register in the system's CSR map"
#endif
}

void kiwicha_platform_forget_cached(void)
{
#if defined(__riscv)
    /* VexRiscv: invalidates the whole data cache. */
    __asm__ volatile(".word 0x500f" : : : "memory");
#endif
}

#endif

#if defined(__STDC_HOSTED__) && __STDC_HOSTED__

#include <stdio.h>

void kiwicha_platform_print(const char *text)
{
    fputs(text, stdout);
}

#else

void kiwicha_platform_print(const char *text)
{
    /* Fill in: send the text through a serial port. */
    (void)text;
}

#endif
