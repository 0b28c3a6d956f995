/**
 * Driver of the engine, beside the kernel that starts it.
 *
 * One step of a Program is a list of jobs and transfers. The engine fetches it, its weights and its
 * tensors by itself; the CPU starts the list and waits.
 */
#ifndef KIWICHA_ENGINE_H
#define KIWICHA_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "kiwicha_isa.h"
#include "memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a kernel starts a list of the engine. */
static inline bool kiwicha_starts_list(uint32_t kernel)
{
    return kernel == KIWICHA_KERNEL_ENGINE ||
           (KIWICHA_HAS_COMPUTED_LISTS && kernel == KIWICHA_KERNEL_COMPUTED_LIST);
}

/** Returns where the list of such a kernel lies while it runs: in the Program, or in the arena. */
static inline const struct kiwicha_ref *kiwicha_list_place(uint32_t kernel, const void *params)
{
    const struct kiwicha_engine_call *p = params;
    const struct kiwicha_computed_list_call *other = params;
    return KIWICHA_HAS_COMPUTED_LISTS && kernel == KIWICHA_KERNEL_COMPUTED_LIST ? &other->computed
                                                                                : &p->image;
}

/**
 * Waits for the end of the list: everything it writes is in DRAM, and no cache holds what was
 * there. The watchdog bounds the wait.
 *
 * Where the arena begins and ends at multiples of KIWICHA_CACHE_LINE_BYTES, the cache forgets while
 * the engine works; else it does so after the end, which takes 130 cycles more.
 *
 * @param memory as the list was started with
 * @param next the step that comes next, or null: while the engine works, the cache gets its
 *     parameters, and the table that it looks up
 * @return KIWICHA_STATUS_OK, or KIWICHA_STATUS_ENGINE, `kiwicha_engine_status` telling why
 */
enum kiwicha_status kiwicha_wait_engine(const struct kiwicha_memory *memory,
                                        const struct kiwicha_step_record *next);

#if KIWICHA_CONFIG_RESIDENT_WORDS
/** Says that the engine's weights are no longer those of any list: the next one loads its own. */
void kiwicha_forget_weights(void);
#endif

/** Returns whether a list runs: 10 cycles, and nothing of it is disturbed. */
bool kiwicha_is_engine_working(void);

/** Returns the engine's status: enum kiwicha_engine_error * 65536 + job number; 0 if all is well.
 */
uint32_t kiwicha_engine_status(void);

/**
 * Reads words of the scratchpad, without a cache between: what jobs have written needs no transfer
 * to DRAM before a CPU step can use it. About 10 cycles for each word.
 *
 * @param address of the first one, in bytes from the start of the scratchpad; a multiple of 4
 * @param words receives them
 * @param count 1 or more
 * @return KIWICHA_STATUS_OK, KIWICHA_STATUS_BAD_ARGUMENT if they are not all in the scratchpad, or
 *     KIWICHA_STATUS_ENGINE while a list runs
 */
enum kiwicha_status kiwicha_peek_engine(uint32_t address, uint32_t *words, uint32_t count);

/** Writes words of the scratchpad; else as `kiwicha_peek_engine`. */
enum kiwicha_status kiwicha_poke_engine(uint32_t address, const uint32_t *words, uint32_t count);

/** Returns how many words `kiwicha_read_engine_cycles` gives for a step. */
uint32_t kiwicha_engine_cycle_words(const struct kiwicha_engine_call *call);

/**
 * Writes what the last list took: its enum kiwicha_engine_counter, then, for each job, the cycle
 * from the start of the list in which it ended.
 *
 * @param call the list that ran last
 * @param words kiwicha_engine_cycle_words(call) of them
 */
void kiwicha_read_engine_cycles(const struct kiwicha_engine_call *call, uint32_t *words);

#if KIWICHA_CONFIG_IS_PREEMPTIBLE
/** Bytes in front of what is saved of the scratchpad. */
enum { KIWICHA_SAVED_SCRATCHPAD_HEAD = 32 };

/**
 * Stops the list before its next job, or before the next one that needs nothing but the scratchpad.
 *
 * @param progress receives what `kiwicha_continue_engine` takes
 * @return 0, also if the list has come to its end; else as `kiwicha_engine_status`
 */
uint32_t kiwicha_pause_engine(uint32_t *progress);

/**
 * Goes on with a list that was paused, and returns.
 *
 * @param memory, params as the list was started with
 * @param list where it lies, from `kiwicha_list_place`
 * @param progress from `kiwicha_pause_engine`
 * @return KIWICHA_STATUS_OK, or KIWICHA_STATUS_ENGINE
 */
enum kiwicha_status kiwicha_continue_engine(const struct kiwicha_memory *memory, const void *params,
                                            const struct kiwicha_ref *list, uint32_t progress);

/**
 * Writes to a place what `kiwicha_save_scratchpad` and `kiwicha_restore_scratchpad` need there. A
 * list may run meanwhile.
 *
 * @param place multiple of 16, of KIWICHA_SAVED_SCRATCHPAD_HEAD bytes more
 * @param bytes of the scratchpad, from its first one on; a multiple of 16
 */
void kiwicha_prepare_save(void *place, uint32_t bytes);

/**
 * Starts to copy them there, 16 in a cycle, and returns: no list may run, and the next one that is
 * started waits for it.
 */
void kiwicha_save_scratchpad(void *place, uint32_t bytes);

/** Waits for what `kiwicha_save_scratchpad` has started; returns KIWICHA_STATUS_OK or _ENGINE. */
enum kiwicha_status kiwicha_end_save(void);

/** Copies them back, and waits for it; returns KIWICHA_STATUS_OK or _ENGINE. */
enum kiwicha_status kiwicha_restore_scratchpad(void *place, uint32_t bytes);
#endif

#ifdef __cplusplus
}
#endif

#endif
