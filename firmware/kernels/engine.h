/**
 * Driver of the engine.
 *
 * One step of a Program is a list of jobs and transfers. The engine fetches it, its weights and its
 * tensors by itself; the CPU starts the list and waits.
 */
#ifndef KIWICHA_ENGINE_H
#define KIWICHA_ENGINE_H

#include <stdint.h>

#include "kiwicha_isa.h"
#include "memory.h"

/** Checks a `kiwicha_engine_run`; statuses as in kernels.h. The engine checks what its list says. */
enum kiwicha_status kiwicha_check_engine(const struct kiwicha_memory *memory, const void *params);

/**
 * Runs a list to its end: everything it writes is in DRAM, and no cache holds what was there.
 *
 * @return KIWICHA_STATUS_OK, KIWICHA_STATUS_BAD_ARGUMENT if a pointer is null, or
 *     KIWICHA_STATUS_ENGINE, `kiwicha_engine_status` telling why
 */
enum kiwicha_status kiwicha_run_engine(const struct kiwicha_memory *memory, const void *params);

/** Returns the engine's status: enum kiwicha_engine_error * 65536 + job number; 0 if all is well. */
uint32_t kiwicha_engine_status(void);

/** Returns the cycle, counted from the start of the last list, in which a job ended. */
uint32_t kiwicha_engine_job_end(uint32_t job);

#endif
