/**
 * @file
 * Streams of inputs: while the engine computes an inference, the CPU stores the outputs of the one
 * before and loads the inputs of the next.
 */
#ifndef KIWICHA_STREAM_H
#define KIWICHA_STREAM_H

#include <stdint.h>

#include "runtime.h"

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
