#include "machine.h"
#include "memory.h"
#include "platform.h"

static volatile uint32_t *word_at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

uint32_t kiwicha_memory_load(uint32_t address)
{
    return *word_at(address);
}

void kiwicha_memory_store(uint32_t address, uint32_t value)
{
    *word_at(address) = value;
}

void kiwicha_memory_settle(void)
{
    kiwicha_platform_drain_stores();
    kiwicha_platform_forget_cached();
}
