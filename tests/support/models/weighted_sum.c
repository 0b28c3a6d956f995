/* Custom operators of tests: sums of up to four inputs, byte by byte, modulo 256, and one input. */
#include <stddef.h>
#include <string.h>

#include "custom.h"

kiwicha_custom_function first_input, weighted_sum;

enum kiwicha_status first_input(const struct kiwicha_custom_call* call) {
    memcpy(call->output, call->inputs[0], call->output_bytes);
    return KIWICHA_STATUS_OK;
}

enum kiwicha_status weighted_sum(const struct kiwicha_custom_call* call) {
    const int8_t* weights = call->parameters;
    int8_t* output = call->output;
    if (weights != NULL && call->parameters_bytes != call->input_count) {
        return KIWICHA_STATUS_BAD_PARAMETERS;
    }
    for (uint32_t n = 0; n < KIWICHA_MAX_CUSTOM_INPUTS; n++) {
        const uint32_t bytes = n < call->input_count ? call->output_bytes : 0;
        if (call->input_bytes[n] != bytes || (call->inputs[n] == NULL) != (bytes == 0)) {
            return KIWICHA_STATUS_BAD_PARAMETERS;
        }
    }
    for (uint32_t k = 0; k < call->output_bytes; k++) {
        int32_t sum = 0;
        for (uint32_t n = 0; n < call->input_count; n++) {
            const int8_t* input = call->inputs[n];
            sum += input[k] * (weights != NULL ? weights[n] : 1);
        }
        output[k] = (int8_t)(uint32_t)sum;
    }
    return KIWICHA_STATUS_OK;
}
