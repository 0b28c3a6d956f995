/**
 * The runtime: checks a Program once, then executes it as often as wanted.
 *
 * Nothing is allocated, and the caller owns what there is of every model: its Program, its arena
 * and its `struct kiwicha_model`. Several models can be open, each in an arena of its own or in one
 * for all; one inference runs at a time. Calls come from one thread of execution.
 */
#ifndef KIWICHA_RUNTIME_H
#define KIWICHA_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "../kernels/memory.h"
#include "kiwicha_isa.h"

/**
 * Whether there may be several models, of which one could be started while another one runs. The
 * runtime has one global then: the model that the machine works for. A program with one model can
 * define this as 0.
 */
#ifndef KIWICHA_SEVERAL_MODELS
#define KIWICHA_SEVERAL_MODELS 1
#endif

/** Whether an inference can be suspended: with several models, on a preemptible engine. */
#define KIWICHA_CAN_SUSPEND (KIWICHA_SEVERAL_MODELS && KIWICHA_CONFIG_IS_PREEMPTIBLE)

#ifdef __cplusplus
extern "C" {
#endif

/** How far an inference has come. */
struct kiwicha_inference {
    uint8_t *place;   /**< from where on its inputs and outputs are */
    uint32_t *cycles; /**< next entry of the table of cycles, or null */
    void (*on_step)(void *context, uint32_t step);
    void *context;
    uint32_t next_step;
    bool is_engine_busy;     /**< a list has been started and not been waited for */
    uint32_t engine_step;    /**< its step */
    uint32_t last_beside;    /**< the last step that runs beside it */
    uint32_t *engine_cycles; /**< its entry in the table of cycles, or null */
#if KIWICHA_CAN_SUSPEND
    uint32_t scratchpad_bytes; /**< what the last list may use of the scratchpad */
#endif
};

#if KIWICHA_CAN_SUSPEND
/** What an inference has left to go on with. */
struct kiwicha_suspension {
    struct kiwicha_model *next; /**< the model suspended before this one */
    uint8_t *place;             /**< the caller's */
    uint32_t saved_bytes;       /**< of the scratchpad, from its first byte on */
    uint32_t free_bytes;        /**< of the scratchpad, which others may use */
    uint32_t progress;          /**< of the list */
    bool is_suspended;
};
#endif

/** A checked Program and its arena. The caller owns all three. */
struct kiwicha_model {
    struct kiwicha_memory memory;
    const struct kiwicha_step_record *steps; /**< in order of execution */
    const struct kiwicha_io_record *inputs;  /**< in the model's order */
    const struct kiwicha_io_record *outputs; /**< in the model's order */
    const struct kiwicha_state_record *states;
    uint32_t step_count;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t state_count;
    uint32_t failed_step; /**< index of the step that failed; step_count if none did */
    uint32_t cycles;      /**< cycles of all steps of the last inference */
    bool is_running;      /**< an inference was started and has not ended */
    uint32_t shift_bytes; /**< between the two places of inputs and outputs; 0 if there is one */
    uint8_t *arena;       /**< the caller's */
    uint8_t *next_arena;  /**< from where on inputs of the next inference are */
    uint8_t *last_arena;  /**< from where on outputs of the last inference that ended are */
    struct kiwicha_inference inference;
#if KIWICHA_CAN_SUSPEND
    struct kiwicha_suspension suspension;
    uint32_t scratchpad_bytes; /**< what its lists may use of the scratchpad; 0 if not known yet */
    volatile bool is_wanted;   /**< somebody waits for the machine */
#endif
};

/**
 * Checks every byte of a Program that decides what is read or written.
 *
 * The Program and the arena stay the caller's and must stay where they are while the model is used;
 * the Program is never written. In the arena only states are written here, see `kiwicha_reset`:
 * models without states that run in turn can have the same one, each finding its inputs as long as
 * no other has been started.
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

/**
 * Opens a Program that `kiwicha_open` has found to be right, or that is known to be: nothing of it
 * is checked, and states in the arena stay as they are.
 *
 * @param model filled in as by `kiwicha_open`
 * @param program, arena as for `kiwicha_open`
 */
void kiwicha_open_checked(struct kiwicha_model *model, const void *program, void *arena);

/**
 * Gives everything that the model keeps between inferences the value that it had at first.
 *
 * `kiwicha_open` does so, too. Between inferences the bytes of states in the arena are the model's:
 * an application that saves them and puts them back continues where it was.
 *
 * @param model from `kiwicha_open`
 * @return KIWICHA_STATUS_OK, or KIWICHA_STATUS_BAD_ARGUMENT if the model is null, not open or
 * running
 */
enum kiwicha_status kiwicha_reset(struct kiwicha_model *model);

/** Returns the number of words that `kiwicha_invoke` writes into its table of cycles. */
uint32_t kiwicha_cycle_entries(const struct kiwicha_model *model);

/**
 * Executes all steps once, on the inputs that lie in the arena: `kiwicha_start`, then
 * `kiwicha_wait`.
 *
 * Steps that an ENGINE step overlaps are executed while the engine works.
 *
 * @param model from `kiwicha_open`
 * @param cycles null, or kiwicha_cycle_entries() words: cycles of each step; behind those of an
 *     ENGINE step what `kiwicha_read_engine_cycles` gives. An ENGINE step's own cycles are those of
 *     starting and of waiting, without the steps that it overlaps
 * @param on_step null, or called after each step with its index, outside the counted cycles
 * @param context handed to on_step
 * @return KIWICHA_STATUS_OK, KIWICHA_STATUS_BAD_ARGUMENT if the model is null, not open or running,
 *     KIWICHA_STATUS_BUSY if another one is running or, suspended, has left in the scratchpad what
 *     this one would use, or what a kernel returned; failed_step tells which
 */
enum kiwicha_status kiwicha_invoke(struct kiwicha_model *model, uint32_t *cycles,
                                   void (*on_step)(void *context, uint32_t step), void *context);

/**
 * Begins an inference on the inputs that lie in the arena, and returns when only the engine works.
 *
 * The CPU is the caller's until the engine's list has ended; is_running tells whether anything is
 * left then, for `kiwicha_poll` or `kiwicha_wait`. Without an engine nothing is.
 *
 * Of a Program with a double buffer, the next inputs may be written from now on, and the outputs of
 * the inference before may be read until the next start; of others, the arena is not to be touched.
 *
 * Arguments and return as of `kiwicha_invoke`. What the caller does meanwhile counts for no step.
 */
enum kiwicha_status kiwicha_start(struct kiwicha_model *model, uint32_t *cycles,
                                  void (*on_step)(void *context, uint32_t step), void *context);

/**
 * Goes on with an inference if the engine's list has ended, up to the next list or to the end.
 *
 * @param model from `kiwicha_open`; nothing happens if it is not running
 * @return KIWICHA_STATUS_OK, also if the engine still works, or what a kernel returned
 */
enum kiwicha_status kiwicha_poll(struct kiwicha_model *model);

/** Goes on with an inference to its end; else as `kiwicha_poll`. */
enum kiwicha_status kiwicha_wait(struct kiwicha_model *model);

#if KIWICHA_CAN_SUSPEND
/**
 * Says that a more urgent model waits: `kiwicha_poll`, which else executes step after step of the
 * CPU, returns after the next one. Can be called from an interrupt.
 */
void kiwicha_want(struct kiwicha_model *model);

/**
 * Stops an inference between two jobs of the engine, or two steps of the CPU, so that other models
 * can run. `kiwicha_resume` goes on with it; until then `kiwicha_poll` and `kiwicha_wait` do
 * nothing.
 *
 * Returns when the job has ended that the engine works on, and `place` has what it has left in the
 * scratchpad. Jobs of which one needs sums that the other has kept count as one. Its arena must
 * stay as it is: the others need their own. The table of cycles has counters since the last
 * resumption only.
 *
 * @param model one that runs, and is not suspended
 * @param place multiple of 16; the caller's again after `kiwicha_resume`
 * @param place_bytes multiple of 16, more than 32. With 32 more than the inference uses of the
 *     scratchpad, others may use all of it; with fewer, as many as are left of them without 32
 * @return KIWICHA_STATUS_OK, KIWICHA_STATUS_BAD_ARGUMENT if an argument is not as it must be, or
 *     KIWICHA_STATUS_ENGINE if the list had failed: then the inference has ended
 */
enum kiwicha_status kiwicha_suspend(struct kiwicha_model *model, void *place, uint32_t place_bytes);

/**
 * Goes on with a suspended inference, and returns as `kiwicha_start` does.
 *
 * @param model from `kiwicha_suspend`
 * @return KIWICHA_STATUS_OK, KIWICHA_STATUS_BUSY if another model runs, KIWICHA_STATUS_BAD_ARGUMENT
 *     if the model is not suspended, or uses of the scratchpad what another suspended one has left
 *     there, or KIWICHA_STATUS_ENGINE
 */
enum kiwicha_status kiwicha_resume(struct kiwicha_model *model);
#endif

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
 * Of an input: where the next inference that is started reads it. Of an output: where the last one
 * that ended has written it. Nothing is copied: whoever makes an input, the CPU or a DMA, writes it
 * there. Its size, dtype, shape, scale and zero point are fields of the tensor.
 *
 * Inputs must be written before every inference: their place may be used again within one. Of a
 * Program with a double buffer the next two inferences have different places, so that a pointer is
 * good for one. Its outputs stay until the next inference but one is started.
 *
 * What a DMA has written, the CPU may have in its cache as it was: where a step of the CPU reads an
 * input, `kiwicha_platform_forget_cached` must come between the DMA and the start.
 *
 * @param model from `kiwicha_open`
 * @param tensor one of the model's inputs or outputs, where `kiwicha_open` found it: no copy of it
 */
void *kiwicha_tensor_data(const struct kiwicha_model *model,
                          const struct kiwicha_io_record *tensor);

/**
 * Forgets Program and arena, which are the caller's again; an inference that has begun is ended
 * first.
 *
 * @param model from `kiwicha_open`, whatever that has returned; or null
 */
void kiwicha_close(struct kiwicha_model *model);

/** Returns what a status means and what to do about it, in English; never null. */
const char *kiwicha_status_text(enum kiwicha_status status);

#if KIWICHA_CONFIG_ENGINE_MACS
/**
 * Returns why the engine has stopped, in English; never null.
 *
 * @param engine_status what `kiwicha_engine_status` returns after KIWICHA_STATUS_ENGINE
 */
const char *kiwicha_engine_text(uint32_t engine_status);
#endif

#ifdef __cplusplus
}
#endif

#endif
