/**
 * Functions of the kernels: two each, declared from `KIWICHA_KERNELS`, which `kiwicha.kernels` is
 * the source of. The C file has the name of the Python file.
 *
 * `kiwicha_check_*` returns
 * - KIWICHA_STATUS_OK: the run function stays inside the tensors that the parameters name,
 * - KIWICHA_STATUS_BAD_PARAMETERS: sizes contradict each other or a value is out of its range,
 * - KIWICHA_STATUS_BAD_BOUNDS: a tensor or table is outside its memory or misaligned.
 * `kiwicha_run_*` may be called with parameters that passed the check; it returns
 * KIWICHA_STATUS_OK, or KIWICHA_STATUS_BAD_ARGUMENT if a pointer is null.
 *
 * Tensors are int8 NHWC, row-major, if the parameters' structure does not say otherwise. Outputs
 * must not overlap inputs, but for kernels that work in place. Kernels with custom instructions
 * give the same bytes as the portable ones. Their input, weights, output and scratch start at
 * multiples of 4; convolutions take weights in the order of `kiwicha.kernels.weight_order`, and
 * bias, multiplier and shift padded with zeros to `ceil(output_channels / 4) * 4` entries. One CFU
 * has one state: a kernel runs to its end before the next one starts.
 */
#ifndef KIWICHA_KERNELS_H
#define KIWICHA_KERNELS_H

#include "kiwicha_isa.h"
#include "memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Check or run function of a kernel.
 *
 * @param memory where tensors and constants are
 * @param params the kernel's parameters, 4-byte aligned; dtypes, layouts and ranges stand with
 *     their fields
 */
typedef enum kiwicha_status kiwicha_kernel_function(const struct kiwicha_memory *memory,
                                                    const void *params);

#define KIWICHA_DECLARE(number, params, check, run)                                                \
    kiwicha_kernel_function kiwicha_check_##check;                                                 \
    kiwicha_kernel_function kiwicha_run_##run;
KIWICHA_KERNELS(KIWICHA_DECLARE)
#undef KIWICHA_DECLARE

#ifdef __cplusplus
}
#endif

#endif
