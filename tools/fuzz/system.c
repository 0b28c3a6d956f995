/* A hostile Program, and then a good one, on the simulated system: `python -m tools.fuzz system`.
 */
#include <stdint.h>

#include "kiwicha_isa.h"
#include "machine.h"
#include "runtime.h"

/* What the host has written to DRAM of a Program. */
struct side {
    uint32_t program;
    uint32_t program_bytes;
    uint32_t arena;
    uint32_t arena_bytes;
};

/* What the host wants. */
struct order {
    struct side hostile;
    struct side good;
    uint32_t report; /* receives struct report */
};

/* An enum kiwicha_status each; of what was not executed as the host has written it. */
struct report {
    uint32_t opened;
    uint32_t invoked;
    uint32_t good_opened;
    uint32_t good_invoked;
};

static struct kiwicha_model model;

static void* memory_at(uint32_t address) { return (void*)(uintptr_t)address; }

static void run(const struct side* side, volatile uint32_t* opened, volatile uint32_t* invoked) {
    *opened = kiwicha_open(&model, memory_at(side->program), side->program_bytes,
                           memory_at(side->arena), side->arena_bytes);
    if (*opened == KIWICHA_STATUS_OK) {
        *invoked = kiwicha_invoke(&model, 0, 0, 0);
    }
}

int main(void) {
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    const struct order order = *(const struct order*)memory_at(KIWICHA_IMAGE_ADDRESS);
    volatile struct report* report = memory_at(order.report);
    run(&order.hostile, &report->opened, &report->invoked);
    run(&order.good, &report->good_opened, &report->good_invoked);
    kiwicha_platform_drain_stores();
    return 0;
}
