/**
 * @file
 * Sets of inputs and outputs as hosts lay them out: each tensor at the next multiple of
 * KIWICHA_ALIGNMENT_BYTES.
 */
#ifndef KIWICHA_TENSOR_SETS_H
#define KIWICHA_TENSOR_SETS_H

#include <stdint.h>

#include "runtime.h"

/** Returns what the memory at an address holds. */
static inline void *kiwicha_platform_memory(uint32_t address)
{
    return (void *)(uintptr_t)address;
}

/** Returns the bytes of a set; UINT32_MAX if they are more. */
uint32_t kiwicha_platform_set_bytes(const struct kiwicha_io_record *tensors, uint32_t count);

/**
 * Copies a set of inputs to where the next inference reads them, and meanwhile goes on with one
 * that runs.
 *
 * @param model opened
 * @param set first byte of the first input
 * @return what `kiwicha_poll` returned
 */
enum kiwicha_status kiwicha_platform_load_inputs(struct kiwicha_model *model, const uint8_t *set);

/**
 * Copies a set of outputs out of the arena of an inference.
 *
 * @param model opened
 * @param arena the model's last_arena when the inference had ended
 * @param set receives them
 */
void kiwicha_platform_store_outputs(const struct kiwicha_model *model, const uint8_t *arena,
                                    uint8_t *set);

#endif
