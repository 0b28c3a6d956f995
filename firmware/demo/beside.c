/* Two models and a timer: person detection all the time, and a more urgent model, a wake word, as
 * often as the timer asks for it. `python -m tools.beside` runs it on the simulated system. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../kernels/cfu.h"
#include "../kernels/engine.h"
#include "interrupts.h"
#include "kiwicha_isa.h"
#include "machine.h"
#include "runtime.h"

/* What the host has written to DRAM of a model. */
struct side {
    uint32_t program;
    uint32_t program_bytes;
    uint32_t arena; /* with inputs; it has room for no other model */
    uint32_t arena_bytes;
    uint32_t copy;   /* of the arena with inputs */
    uint32_t output; /* what it must give */
    uint32_t output_bytes;
};

/* What the host wants. */
struct order {
    struct side slow;
    struct side urgent;
    uint32_t mode;
    uint32_t count;        /* of inferences, or of urgent ones */
    uint32_t least_cycles; /* from one urgent inference to the next request */
    uint32_t spread_cycles;
    uint32_t seed;
    uint32_t place; /* for what the slow model has left in the scratchpad */
    uint32_t place_bytes;
    uint32_t noise; /* bytes that the CPU reads and writes meanwhile; 0 for none */
    uint32_t noise_bytes;
    uint32_t report; /* receives struct report, and the cycles of each urgent start behind it */
};

struct report {
    uint32_t total_cycles;
    uint32_t asleep_cycles;
    uint32_t slow_inferences;
    uint32_t wrong;
    uint32_t suspensions;
    uint32_t noise_wrong;
    uint32_t waits[];
};

enum mode { MODE_INVOKE, MODE_SLEEP, MODE_URGENT };
enum { WORD_BYTES = 4, LINE_WORDS = 8, LINES_BETWEEN_LOOKS = 8 };

static struct kiwicha_model slow;
static struct kiwicha_model urgent;
static volatile bool is_asked;
static uint32_t asked_at; /* the cycle in which the timer asks next */

static void on_timer(void)
{
    is_asked = true;
    kiwicha_want(&slow);
}

static void *memory_at(uint32_t address)
{
    return (void *)(uintptr_t)address;
}

static enum kiwicha_status open(struct kiwicha_model *model, const struct side *side)
{
    return kiwicha_open(model, memory_at(side->program), side->program_bytes,
                        memory_at(side->arena), side->arena_bytes);
}

/* Whether the last inference of a model has given what it must. */
static bool is_right(const struct kiwicha_model *model, const struct side *side)
{
    const uint8_t *got = kiwicha_tensor_data(model, &model->outputs[0]);
    const uint8_t *wanted = memory_at(side->output);
    for (uint32_t k = 0; k < side->output_bytes; k++) {
        if (got[k] != wanted[k]) {
            return false;
        }
    }
    return true;
}

static uint32_t random_number(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Sets the timer to ask once, some time from now. */
static void set_timer(const struct order *order, uint32_t *seed)
{
    const uint32_t delay = order->least_cycles + random_number(seed) % order->spread_cycles;
    kiwicha_platform_set_timer(delay, 0);
    asked_at = kiwicha_platform_cycles() + delay;
}

/* Sleeps while there is nothing to do; returns for how long. */
static uint32_t sleep(void)
{
    uint32_t cycles = 0;
    kiwicha_platform_mask_interrupts();
    if (!is_asked && kiwicha_is_engine_working()) {
        cycles = kiwicha_platform_cycles();
        kiwicha_platform_sleep();
        cycles = kiwicha_platform_cycles() - cycles;
    }
    kiwicha_platform_unmask_interrupts();
    return cycles;
}

/* Reads and writes some lines that are not in the cache; the CPU adds 1 to every word in turn. */
static void make_noise(const struct order *order, uint32_t *at, struct report *report)
{
    volatile uint32_t *words = memory_at(order->noise);
    for (uint32_t k = 0; k < LINES_BETWEEN_LOOKS; ++k) {
        const uint32_t turn = *at / order->noise_bytes;
        const uint32_t word = *at % order->noise_bytes / WORD_BYTES;
        report->noise_wrong += words[word] != turn;
        words[word] = turn + 1;
        *at += LINE_WORDS * WORD_BYTES;
    }
}

/* The urgent model, as soon as it may; notes how long it has waited. */
static enum kiwicha_status be_urgent(const struct order *order, struct report *report,
                                     uint32_t *wait)
{
    enum kiwicha_status status = KIWICHA_STATUS_OK;
    const bool was_running = slow.is_running;
    /* Interrupts of the engine that come with it are taken together, and later. */
    kiwicha_platform_mask_interrupts();
    if (was_running) {
        status = kiwicha_suspend(&slow, memory_at(order->place), order->place_bytes);
    }
    if (status == KIWICHA_STATUS_OK) {
        status = kiwicha_start(&urgent, NULL, NULL, NULL);
        /* It has been counting since it was started. */
        *wait = kiwicha_platform_cycles() - asked_at -
                kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_COUNTER,
                                KIWICHA_ENGINE_COUNTER_TOTAL, 0, 0);
    }
    kiwicha_platform_unmask_interrupts();
    report->suspensions += was_running;
    if (status == KIWICHA_STATUS_OK) {
        status = kiwicha_wait(&urgent);
    }
    report->wrong += !is_right(&urgent, &order->urgent);
    /* Its inputs for the next time: their place is used again within an inference. */
    memcpy(memory_at(order->urgent.arena), memory_at(order->urgent.copy),
           order->urgent.arena_bytes);
    return status == KIWICHA_STATUS_OK && was_running ? kiwicha_resume(&slow) : status;
}

/* One inference after the other; the urgent model whenever the timer asks for it. */
static enum kiwicha_status run(const struct order *order, struct report *report)
{
    uint32_t seed = order->seed;
    uint32_t noise_at = 0;
    uint32_t done = 0;
    enum kiwicha_status status = KIWICHA_STATUS_OK;
    if (order->mode == MODE_URGENT) {
        set_timer(order, &seed);
    }
    while (status == KIWICHA_STATUS_OK && done < order->count) {
        if (order->mode == MODE_INVOKE) {
            status = kiwicha_invoke(&slow, NULL, NULL, NULL);
        } else if (!slow.is_running) {
            status = kiwicha_start(&slow, NULL, NULL, NULL);
        } else {
            if (order->noise_bytes != 0) {
                make_noise(order, &noise_at, report);
            } else {
                report->asleep_cycles += sleep();
            }
            if (is_asked) {
                is_asked = false;
                status = be_urgent(order, report, &report->waits[done++]);
                set_timer(order, &seed);
            }
            if (status == KIWICHA_STATUS_OK) {
                status = kiwicha_poll(&slow);
            }
        }
        if (status == KIWICHA_STATUS_OK && !slow.is_running) {
            report->slow_inferences++;
            report->wrong += !is_right(&slow, &order->slow);
            done += order->mode != MODE_URGENT;
        }
    }
    kiwicha_close(&slow);
    return status;
}

int main(void)
{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    /* On chip: the data cache forgets with each list, and DRAM takes a hundred cycles. */
    const struct order copy = *(const struct order *)memory_at(KIWICHA_IMAGE_ADDRESS);
    const struct order *order = &copy;
    struct report *report = memory_at(order->report);
    enum kiwicha_status status = open(&slow, &order->slow);
    if (status == KIWICHA_STATUS_OK) {
        status = open(&urgent, &order->urgent);
    }
    if (status != KIWICHA_STATUS_OK) {
        return (int)status;
    }
    kiwicha_platform_enable_interrupts(on_timer);
    const uint32_t start = kiwicha_platform_cycles();
    status = run(order, report);
    report->total_cycles = kiwicha_platform_cycles() - start;
    return (int)status;
}
