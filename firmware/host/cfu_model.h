/** A model of the CFU's instruction tier in plain C, for native builds. */
#ifndef KIWICHA_CFU_MODEL_H
#define KIWICHA_CFU_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Executes one custom instruction.
 *
 * There is one CFU per process. A PUSH while RESULT_FIFO_DEPTH words wait, whose result would be
 * lost, ends the process: no kernel may do that.
 *
 * @param function_id funct7 * 8 + funct3, 10 bits
 * @param a inputs_0
 * @param b inputs_1
 * @return the answer; KIWICHA_UNKNOWN_RESPONSE + function_id if the id is not listed
 */
uint32_t kiwicha_cfu_model(uint32_t function_id, uint32_t a, uint32_t b);

#ifdef __cplusplus
}
#endif

#endif
