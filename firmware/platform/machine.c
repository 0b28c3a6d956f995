#include "machine.h"

#include "kiwicha_isa.h"
#include "kiwicha_soc.h"

/* VexRiscv: custom instructions are enabled by the top bit of its interrupt mask. */
#define CSR_INTERRUPT_MASK "0xbc0"
#define CFU_ENABLE 0x80000000u

/* LiteDRAM's DFI control register: the controller, not software, drives the memory. */
#define DFII_CONTROL_HARDWARE 0x01u
#define DFII_CONTROL_CKE 0x02u
#define DFII_CONTROL_ODT 0x04u
#define DFII_CONTROL_RESET_N 0x08u

#define UART_EVENT_RECEIVED 0x02u

static volatile uint32_t *register_at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

void kiwicha_platform_enable_cfu(void)
{
#if KIWICHA_CONFIG_HAS_SIMD
    /* The instruction directly after the write would still trap. */
    __asm__ volatile("csrw " CSR_INTERRUPT_MASK ", %0\n\tnop" : : "r"(CFU_ENABLE) : "memory");
#endif
}

void kiwicha_platform_init_dram(void)
{
    *register_at(KIWICHA_CSR_SDRAM_DFII_CONTROL) =
        DFII_CONTROL_HARDWARE | DFII_CONTROL_CKE | DFII_CONTROL_ODT | DFII_CONTROL_RESET_N;
}

uint32_t kiwicha_platform_cycles(void)
{
    uint32_t cycles;
    __asm__ volatile("csrr %0, mcycle" : "=r"(cycles) : : "memory");
    return cycles;
}

void kiwicha_platform_drain_stores(void)
{
    while (*register_at(KIWICHA_CSR_DRAM_BRIDGE_DRAINED) == 0) {
    }
}

void kiwicha_platform_forget_cached(void)
{
    /* VexRiscv: invalidates the whole data cache. */
    __asm__ volatile(".word 0x500f" : : : "memory");
}

void kiwicha_platform_send(uint8_t byte)
{
    while (*register_at(KIWICHA_CSR_UART_TXFULL) != 0) {
    }
    *register_at(KIWICHA_CSR_UART_RXTX) = byte;
}

bool kiwicha_platform_receive(uint8_t *byte)
{
    if (*register_at(KIWICHA_CSR_UART_RXEMPTY) != 0) {
        return false;
    }
    *byte = (uint8_t)*register_at(KIWICHA_CSR_UART_RXTX);
    /* The byte leaves the UART when its event is cleared. */
    *register_at(KIWICHA_CSR_UART_EV_PENDING) = UART_EVENT_RECEIVED;
    return true;
}

void kiwicha_platform_print(const char *text)
{
    while (*text != '\0') {
        kiwicha_platform_send((uint8_t)*text++);
    }
}

void kiwicha_platform_print_hex(uint32_t value)
{
    /* On-chip memory counts, time does not. */
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
    for (uint32_t digit = 0; digit < 8; ++digit) {
        kiwicha_platform_send((uint8_t)"0123456789abcdef"[value >> 28]);
        value <<= 4;
    }
}

_Noreturn void kiwicha_platform_jump(uint32_t address, uint32_t argument)
{
    /* VexRiscv: forgets the instruction cache, and what the pipeline holds of it. */
    __asm__ volatile(".word 0x100f\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop" : : : "memory");
    ((void (*)(uint32_t))(uintptr_t)address)(argument);
    __builtin_unreachable();
}

_Noreturn void kiwicha_platform_exit(uint32_t status)
{
#if KIWICHA_HAS_LOADER
    kiwicha_platform_jump(KIWICHA_LOADER_ADDRESS, status);
#else
    while (*register_at(KIWICHA_CSR_UART_TXEMPTY) == 0) {
    }
    *register_at(KIWICHA_CSR_SIMULATION_CODE) = status;
    for (;;) {
    }
#endif
}

_Noreturn void kiwicha_platform_trap(uint32_t cause, uint32_t address, uint32_t value)
{
    struct kiwicha_boot_block volatile *boot =
        (struct kiwicha_boot_block volatile *)(uintptr_t)KIWICHA_BOOT_BLOCK_ADDRESS;
    kiwicha_platform_print("trap: cause ");
    kiwicha_platform_print_hex(cause);
    kiwicha_platform_print(" at ");
    kiwicha_platform_print_hex(address);
    kiwicha_platform_print(" value ");
    kiwicha_platform_print_hex(value);
    kiwicha_platform_print("\n");
    boot->status = KIWICHA_STATUS_TRAP;
    kiwicha_platform_exit(KIWICHA_STATUS_TRAP);
}
