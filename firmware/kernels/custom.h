/** What a kernel of a custom operator gets; see docs/custom-operators.md. */
#ifndef KIWICHA_CUSTOM_H
#define KIWICHA_CUSTOM_H

#include <stdint.h>

#include "kiwicha_isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One call. All pointers are multiples of 4, inside their memory, and do not overlap the output.
 */
struct kiwicha_custom_call {
    const void *inputs[KIWICHA_MAX_CUSTOM_INPUTS]; /**< null from input_count on */
    uint32_t input_bytes[KIWICHA_MAX_CUSTOM_INPUTS];
    uint32_t input_count;
    void *output;
    uint32_t output_bytes;
    const void *parameters; /**< what CustomOperator.parameters gave; null if that was nothing */
    uint32_t parameters_bytes;
};

/**
 * Computes the output.
 *
 * @return KIWICHA_STATUS_OK, or KIWICHA_STATUS_BAD_PARAMETERS if the sizes contradict each other
 */
typedef enum kiwicha_status kiwicha_custom_function(const struct kiwicha_custom_call *call);

#ifdef __cplusplus
}
#endif

#endif
