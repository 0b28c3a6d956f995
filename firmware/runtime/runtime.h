/** The runtime: checks a Program once, then executes it as often as wanted. */
#ifndef KIWICHA_RUNTIME_H
#define KIWICHA_RUNTIME_H

#include <stdint.h>

#include "../kernels/memory.h"
#include "kiwicha_isa.h"

/** A checked Program and its arena. The caller owns all three; nothing is allocated. */
struct kiwicha_model {
    struct kiwicha_memory memory;
    const struct kiwicha_step_record *steps; /**< in order of execution */
    const struct kiwicha_io_record *inputs;  /**< in the model's order */
    const struct kiwicha_io_record *outputs; /**< in the model's order */
    uint32_t step_count;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t failed_step; /**< index of the step that failed; step_count if none did */
    uint32_t cycles;      /**< cycles of all steps of the last inference */
};

/**
 * Checks every byte of a Program that decides what is read or written.
 *
 * The Program and the arena stay the caller's and must stay where they are while the model is used;
 * the Program is never written. Nothing in the arena is read or written here.
 *
 * @param model filled in; usable only after KIWICHA_STATUS_OK
 * @param program multiple of 16
 * @param program_bytes exactly the Program's size
 * @param arena multiple of 16, not overlapping the Program; may be null if arena_bytes is 0
 * @param arena_bytes at least what the Program asks for
 * @return
 * - KIWICHA_STATUS_OK: `kiwicha_invoke` stays inside the arena
 * - KIWICHA_STATUS_BAD_ARGUMENT: a pointer is null, misaligned or overlapping
 * - KIWICHA_STATUS_CFU_MISMATCH: the gateware was built for another configuration
 * - KIWICHA_STATUS_BAD_MAGIC, BAD_VERSION, BAD_CONFIG, BAD_CHECKSUM: of the Program's header
 * - KIWICHA_STATUS_BAD_BOUNDS: a table, tensor or constant is outside its memory or misaligned
 * - KIWICHA_STATUS_ARENA_TOO_SMALL: the Program needs more than arena_bytes
 * - KIWICHA_STATUS_BAD_KERNEL: a step's kernel is not in this firmware
 * - KIWICHA_STATUS_BAD_PARAMETERS: a step's or tensor's values contradict each other
 */
enum kiwicha_status kiwicha_open(struct kiwicha_model *model, const void *program,
                                 uint32_t program_bytes, void *arena, uint32_t arena_bytes);

/** Returns the number of words that `kiwicha_invoke` writes into its table of cycles. */
uint32_t kiwicha_cycle_entries(const struct kiwicha_model *model);

/**
 * Executes all steps once, on the inputs that lie in the arena.
 *
 * Steps that an ENGINE step overlaps are executed while the engine works.
 *
 * @param model from `kiwicha_open`
 * @param cycles null, or kiwicha_cycle_entries() words: cycles of each step; behind those of an
 *     ENGINE step what `kiwicha_read_engine_cycles` gives. An ENGINE step's own cycles are those of
 *     starting and of waiting, without the steps that it overlaps
 * @param on_step null, or called after each step with its index, outside the counted cycles
 * @param context handed to on_step
 * @return KIWICHA_STATUS_OK, KIWICHA_STATUS_BAD_ARGUMENT if the model is null or not open, or what
 *     a kernel returned; failed_step tells which
 */
enum kiwicha_status kiwicha_invoke(struct kiwicha_model *model, uint32_t *cycles,
                                   void (*on_step)(void *context, uint32_t step), void *context);

/** Returns the input of that name; null if there is none or the model is not open. */
const struct kiwicha_io_record *kiwicha_find_input(const struct kiwicha_model *model,
                                                   const char *name);

/** Returns the output of that name; null if there is none or the model is not open. */
const struct kiwicha_io_record *kiwicha_find_output(const struct kiwicha_model *model,
                                                    const char *name);

/** Returns the name of an input or output, as in the model; null if the model is not open. */
const char *kiwicha_tensor_name(const struct kiwicha_model *model,
                                const struct kiwicha_io_record *tensor);

/**
 * Returns the first byte of an input or output, multiple of 4; null if the model is not open.
 *
 * Its size, dtype, shape, scale and zero point are fields of the tensor. Inputs must be written
 * before every inference: their place may be used again within one.
 */
void *kiwicha_tensor_data(const struct kiwicha_model *model,
                          const struct kiwicha_io_record *tensor);

/** Forgets Program and arena, which are the caller's again. Null is allowed. */
void kiwicha_close(struct kiwicha_model *model);

#endif
