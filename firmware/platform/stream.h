/**
 * @file
 * Streams of inputs: while the engine computes an inference, the CPU stores the outputs of the one
 * before and loads the inputs of the next.
 */
#ifndef KIWICHA_STREAM_H
#define KIWICHA_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime.h"

/** Returns whether what the boot block says of a stream has the sizes that a model needs. */
bool kiwicha_platform_fits_stream(const struct kiwicha_model *model,
                                  const volatile struct kiwicha_boot_block *boot);

/**
 * Executes the inferences of a stream.
 *
 * @param model opened; has two places for inputs and outputs, and the first inputs in theirs
 * @param boot receives how many have finished; the table of cycles says when
 * @return what the runtime returned
 */
enum kiwicha_status kiwicha_platform_run_stream(struct kiwicha_model *model,
                                                volatile struct kiwicha_boot_block *boot);

#endif
