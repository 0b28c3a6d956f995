#include "engine.h"

#if KIWICHA_CONFIG_ENGINE_MACS

#include <stddef.h>

#include "../runtime/platform.h"
#include "cfu.h"
#include "check.h"
#include "kernels.h"

enum range { RANGE_PROGRAM, RANGE_ARENA };
enum access { ACCESS_READ, ACCESS_WRITE };
enum { WORD_BYTES = 4, RUNNING_BIT = 31 };

#if KIWICHA_CONFIG_RESIDENT_WORDS
/* The list whose weights the engine keeps, and the one that runs if it keeps any; by image. */
static uint32_t keeper;
static uint32_t runs;

void kiwicha_forget_weights(void)
{
    keeper = 0;
}

/* Returns the offset of the list to start: the second one if the weights are there. */
static uint32_t choose_list(const struct kiwicha_engine_call *p, uint32_t image)
{
    runs = 0;
    if (!p->is_resident) {
        return 0;
    }
    const bool has_weights = keeper == image;
    runs = image;
    keeper = 0;
    return has_weights ? p->job_count * (uint32_t)sizeof(struct kiwicha_engine_job) +
                             p->transfer_count * (uint32_t)sizeof(struct kiwicha_engine_transfer)
                       : 0;
}

/* Notes that the list which runs has ended. */
static void note_weights(enum kiwicha_status status)
{
    if (status != KIWICHA_STATUS_OK) {
        keeper = 0;
    } else if (runs != 0) {
        keeper = runs;
    }
}
#else
#define choose_list(p, image) 0
#define note_weights(status) (void)(status)
#endif

/* The engine itself checks what its list says. */
KIWICHA_SMALL static inline __attribute__((always_inline)) struct kiwicha_check
check_call(const struct kiwicha_memory *memory, const struct kiwicha_engine_call *p)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint64_t list_bytes =
        (uint64_t)p->job_count * sizeof(struct kiwicha_engine_job) +
        (uint64_t)p->transfer_count * sizeof(struct kiwicha_engine_transfer);
    kiwicha_require(&check, p->job_count >= 1 && p->job_count <= KIWICHA_MAX_JOBS);
    kiwicha_require(&check, p->transfer_count <= UINT16_MAX);
    kiwicha_require(&check, p->is_resident <= (KIWICHA_CONFIG_RESIDENT_WORDS > 0));
    kiwicha_require(&check, list_bytes * (1 + p->is_resident) <= p->image.bytes);
    kiwicha_require(&check, p->image.bytes % KIWICHA_ALIGNMENT_BYTES == 0);
    kiwicha_require(&check, memory->arena_bytes % KIWICHA_ALIGNMENT_BYTES == 0);
    kiwicha_require(&check, p->macs == KIWICHA_CONFIG_ENGINE_MACS);
    kiwicha_require(&check, p->scratchpad_bytes <= KIWICHA_CONFIG_SCRATCHPAD_BYTES);
    kiwicha_require(&check, p->goes_on <= 1);
    kiwicha_require(&check, (p->image.offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    kiwicha_require_source(&check, &p->image, p->image.bytes, KIWICHA_ALIGNMENT_BYTES);
    return check;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_engine(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    return check_call(memory, params).status;
}

/* Starts a list, which lies where a reference says, and returns. */
static inline __attribute__((always_inline)) enum kiwicha_status
start_list(const struct kiwicha_memory *memory, const struct kiwicha_engine_call *p,
           const struct kiwicha_ref *place)
{
    const uint32_t image = (uint32_t)(uintptr_t)kiwicha_source(memory, place);
    const uint32_t arena = (uint32_t)(uintptr_t)memory->arena;
#if KIWICHA_CONFIG_IS_PREEMPTIBLE
    /* What a suspended model has left may be on its way, while the cache gets the parameters. */
    kiwicha_platform_drain_stores();
    const enum kiwicha_status saved = kiwicha_end_save();
    if (saved != KIWICHA_STATUS_OK) {
        return saved;
    }
#endif
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_RANGE, RANGE_PROGRAM, image,
                   place->bytes);
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_RANGE, RANGE_ARENA, arena,
                   memory->arena_bytes);
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_WATCHDOG, 0,
                   KIWICHA_ENGINE_WATCHDOG_CYCLES, 0);
#if !KIWICHA_CONFIG_IS_PREEMPTIBLE
    kiwicha_platform_drain_stores();
#endif
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_START, 0, choose_list(p, image),
                   p->job_count | p->transfer_count << 16);
    return KIWICHA_STATUS_OK;
}

/**
 * Starts a list and returns. The CPU must not touch what the list reads or writes, nor start
 * another one, until `kiwicha_wait_engine` has returned.
 */
enum kiwicha_status kiwicha_run_engine(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_engine_call *p = params;
    return start_list(memory, p, &p->image);
}

#if KIWICHA_HAS_COMPUTED_LISTS
KIWICHA_SMALL enum kiwicha_status kiwicha_check_computed_list(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    const struct kiwicha_computed_list_call *p = params;
    struct kiwicha_check check = check_call(memory, params);
    kiwicha_require(&check, p->is_resident == 0);
    kiwicha_require(&check, p->computed.bytes >= p->image.bytes);
    kiwicha_require(&check, p->computed.bytes % KIWICHA_ALIGNMENT_BYTES == 0);
    kiwicha_require_target(&check, &p->computed, p->computed.bytes, KIWICHA_ALIGNMENT_BYTES);
    return check.status;
}

/** The same with a list that others have brought to the arena: its range of the Program is there.
 */
enum kiwicha_status kiwicha_run_computed_list(const struct kiwicha_memory *memory,
                                              const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_computed_list_call *p = params;
    return start_list(memory, params, &p->computed);
}
#endif

/* A function of its own, which keeps nothing on the stack: a word there would have to come from
 * memory when the list has ended. */
static __attribute__((noinline)) enum kiwicha_status wait_for_end(void)
{
    const uint32_t status = kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_WAIT, 0, 0, 0);
    /* What follows reads what the list has written. */
    __asm__ volatile("" : : : "memory");
    const enum kiwicha_status found = status == 0 ? KIWICHA_STATUS_OK : KIWICHA_STATUS_ENGINE;
    note_weights(found);
    return found;
}

/* Whether no line of the data cache holds bytes of the arena and others. */
static bool fills_cache_lines(const struct kiwicha_memory *memory)
{
    const uint32_t ends = (uint32_t)(uintptr_t)memory->arena | memory->arena_bytes;
    return ends % KIWICHA_CACHE_LINE_BYTES == 0;
}

/* Reads a table's lines of the cache as long as the engine works. Firmware may have no kernel with
 * one. */
KIWICHA_SMALL static __attribute__((noinline, unused)) void
read_table(const struct kiwicha_memory *memory, const struct kiwicha_ref *table)
{
    const volatile uint8_t *entries = kiwicha_source(memory, table);
    for (uint32_t k = 0; k < table->bytes && kiwicha_is_engine_working();
         k += KIWICHA_CACHE_LINE_BYTES) {
        (void)entries[k];
    }
}

#define READ_TABLE(name, type, table)                                                              \
    if (step->kernel == KIWICHA_KERNEL_##name) {                                                   \
        read_table(memory, &((const struct kiwicha_##type *)params)->table);                       \
    }

/* Reads both ends of a step's parameters, so that the cache has them, and its tables. */
static void read_ahead(const struct kiwicha_memory *memory, const struct kiwicha_step_record *step)
{
    const void *params = memory->program + step->params_offset;
    const volatile uint8_t *bytes = params;
    (void)bytes[0];
    (void)bytes[step->params_bytes - 1];
    KIWICHA_TABLES(READ_TABLE)
}

enum kiwicha_status kiwicha_wait_engine(const struct kiwicha_memory *memory,
                                        const struct kiwicha_step_record *next)
{
    if (fills_cache_lines(memory)) {
        /* The cache forgets while the engine works, and until its end nothing reads the arena. */
        kiwicha_platform_forget_cached();
        if (next != NULL) {
            read_ahead(memory, next);
        }
        return wait_for_end();
    }
    const enum kiwicha_status status = wait_for_end();
    kiwicha_platform_forget_cached();
    return status;
}

bool kiwicha_is_engine_working(void)
{
    return kiwicha_engine_status() >> RUNNING_BIT;
}

uint32_t kiwicha_engine_status(void)
{
    return kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_STATUS, 0, 0, 0);
}

/* Whether words can be accessed now. */
static enum kiwicha_status check_words(uint32_t address, const uint32_t *words, uint32_t count)
{
    const uint32_t size = KIWICHA_CONFIG_SCRATCHPAD_BYTES;
    if (words == NULL || count == 0 || address % WORD_BYTES != 0 || address >= size ||
        count > (size - address) / WORD_BYTES) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    return kiwicha_is_engine_working() ? KIWICHA_STATUS_ENGINE : KIWICHA_STATUS_OK;
}

enum kiwicha_status kiwicha_peek_engine(uint32_t address, uint32_t *words, uint32_t count)
{
    const enum kiwicha_status status = check_words(address, words, count);
    for (uint32_t k = 0; status == KIWICHA_STATUS_OK && k < count; k++) {
        words[k] = kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_PEEK, ACCESS_READ,
                                   address + k * WORD_BYTES, 0);
    }
    return status;
}

enum kiwicha_status kiwicha_poke_engine(uint32_t address, const uint32_t *words, uint32_t count)
{
    const enum kiwicha_status status = check_words(address, words, count);
    for (uint32_t k = 0; status == KIWICHA_STATUS_OK && k < count; k++) {
        kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_PEEK, ACCESS_WRITE,
                       address + k * WORD_BYTES, words[k]);
    }
    return status;
}

#define COUNTER(name)                                                                              \
    kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_COUNTER,                               \
                    KIWICHA_ENGINE_COUNTER_##name, 0, 0)

enum { COUNTERS = 5 };
_Static_assert(KIWICHA_ENGINE_COUNTER_WAIT_REQUANTIZER == COUNTERS - 1, "all counters are read");

uint32_t kiwicha_engine_cycle_words(const struct kiwicha_engine_call *call)
{
    return COUNTERS + call->job_count;
}

void kiwicha_read_engine_cycles(const struct kiwicha_engine_call *call, uint32_t *words)
{
    words[KIWICHA_ENGINE_COUNTER_TOTAL] = COUNTER(TOTAL);
    words[KIWICHA_ENGINE_COUNTER_BUSY] = COUNTER(BUSY);
    words[KIWICHA_ENGINE_COUNTER_WAIT_WEIGHTS] = COUNTER(WAIT_WEIGHTS);
    words[KIWICHA_ENGINE_COUNTER_WAIT_TRANSFERS] = COUNTER(WAIT_TRANSFERS);
    words[KIWICHA_ENGINE_COUNTER_WAIT_REQUANTIZER] = COUNTER(WAIT_REQUANTIZER);
    for (uint32_t job = 0; job < call->job_count; job++) {
        words[COUNTERS + job] =
            kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_JOB_END, 0, job, 0);
    }
}

#endif
