#include "engine.h"

#if KIWICHA_CONFIG_IS_PREEMPTIBLE

#include "../runtime/platform.h"
#include "cfu.h"

enum range { RANGE_PROGRAM, RANGE_ARENA };
enum start_index { START_LIST, START_BEHIND };
enum status_index { STATUS_ONLY, STATUS_PAUSE, STATUS_PROGRESS };
enum { TRANSFERS_SHIFT = 16 };

#define ENGINE_DO(op, index, a, b)                                                                 \
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_##op, index, a, b)
#define ENGINE_ASK(op, index)                                                                      \
    kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_##op, index, 0, 0)

enum { SAVE, RESTORE, MOVES };
_Static_assert(MOVES * sizeof(struct kiwicha_engine_transfer) == KIWICHA_SAVED_SCRATCHPAD_HEAD,
               "the head of what is saved holds a transfer each way");

uint32_t kiwicha_pause_engine(uint32_t *progress)
{
    (void)ENGINE_ASK(STATUS, STATUS_PAUSE);
    const uint32_t status = ENGINE_ASK(WAIT, 0);
    *progress = ENGINE_ASK(STATUS, STATUS_PROGRESS);
    return (status & KIWICHA_PAUSED_FLAG) != 0 ? 0 : status;
}

static void set_ranges(const void *program, uint32_t program_bytes, const void *arena,
                       uint32_t arena_bytes)
{
    ENGINE_DO(RANGE, RANGE_PROGRAM, (uint32_t)(uintptr_t)program, program_bytes);
    ENGINE_DO(RANGE, RANGE_ARENA, (uint32_t)(uintptr_t)arena, arena_bytes);
}

/* The list that saves the scratchpad has been started, and nobody has waited for it. */
static bool is_saving;

enum kiwicha_status kiwicha_end_save(void)
{
    if (!is_saving) {
        return KIWICHA_STATUS_OK;
    }
    is_saving = false;
    return ENGINE_ASK(WAIT, 0) == 0 ? KIWICHA_STATUS_OK : KIWICHA_STATUS_ENGINE;
}

/* Starts a list of one transfer between scratchpad and memory. */
static void start_move(uint8_t *place, uint32_t bytes, uint32_t which)
{
    set_ranges(place, KIWICHA_SAVED_SCRATCHPAD_HEAD, place + KIWICHA_SAVED_SCRATCHPAD_HEAD, bytes);
    ENGINE_DO(START, START_LIST, which * (uint32_t)sizeof(struct kiwicha_engine_transfer),
              1u << TRANSFERS_SHIFT);
}

void kiwicha_prepare_save(void *place, uint32_t bytes)
{
    struct kiwicha_engine_transfer *moves = place;
    moves[SAVE] = (struct kiwicha_engine_transfer){.bytes = bytes | KIWICHA_TRANSFER_FLAG};
    moves[RESTORE] = (struct kiwicha_engine_transfer){.bytes = bytes};
    kiwicha_platform_drain_stores();
}

void kiwicha_save_scratchpad(void *place, uint32_t bytes)
{
    start_move(place, bytes, SAVE);
    is_saving = true;
}

enum kiwicha_status kiwicha_restore_scratchpad(void *place, uint32_t bytes)
{
    const enum kiwicha_status saved = kiwicha_end_save();
    start_move(place, bytes, RESTORE);
    const uint32_t status = ENGINE_ASK(WAIT, 0);
    return saved == KIWICHA_STATUS_OK && status == 0 ? KIWICHA_STATUS_OK : KIWICHA_STATUS_ENGINE;
}

/* Returns the number of the last of the first `count` transfers that loads the converter's table,
 * and 1; 0 if none does. */
static uint32_t behind_table(const struct kiwicha_engine_transfer *transfers, uint32_t count)
{
    while (count != 0 && (transfers[count - 1].flags & KIWICHA_TABLE_TRANSFER) == 0) {
        --count;
    }
    return count;
}

enum kiwicha_status kiwicha_continue_engine(const struct kiwicha_memory *memory, const void *params,
                                            const struct kiwicha_ref *list, uint32_t progress)
{
    const struct kiwicha_engine_call *p = params;
    const uint8_t *image = kiwicha_source(memory, &p->image);
    const struct kiwicha_engine_transfer *transfers =
        (const void *)(image + p->job_count * sizeof(struct kiwicha_engine_job));
    set_ranges(kiwicha_source(memory, list), list->bytes, memory->arena, memory->arena_bytes);
    kiwicha_platform_drain_stores();
    const uint32_t table = behind_table(transfers, progress >> TRANSFERS_SHIFT);
    if (table != 0) {
        /* A list of that transfer alone: all jobs are behind it, and so are the others. */
        ENGINE_DO(START, START_BEHIND, p->job_count | (table - 1) << TRANSFERS_SHIFT, 0);
        ENGINE_DO(START, START_LIST, 0, p->job_count | table << TRANSFERS_SHIFT);
        if (ENGINE_ASK(WAIT, 0) != 0) {
            return KIWICHA_STATUS_ENGINE;
        }
    }
    ENGINE_DO(START, START_BEHIND, progress, 0);
    ENGINE_DO(START, START_LIST, 0, p->job_count | p->transfer_count << TRANSFERS_SHIFT);
    return KIWICHA_STATUS_OK;
}

#endif
