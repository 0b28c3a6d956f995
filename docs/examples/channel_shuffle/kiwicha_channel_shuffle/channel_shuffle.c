#include "check.h"
#include "custom.h"

struct parameters {
    uint32_t channels;
    uint32_t groups;
};

kiwicha_custom_function channel_shuffle;

/* On-chip memory is short: KIWICHA_SMALL, of check.h, compiles for size. */
KIWICHA_SMALL enum kiwicha_status channel_shuffle(const struct kiwicha_custom_call *call)
{
    const struct parameters *p = call->parameters;
    if (call->input_count != 1 || call->parameters_bytes != sizeof(*p) || p->groups == 0 ||
        p->channels == 0 || p->channels % p->groups != 0 ||
        call->input_bytes[0] % p->channels != 0 || call->output_bytes != call->input_bytes[0]) {
        return KIWICHA_STATUS_BAD_PARAMETERS;
    }
    const int8_t *input = call->inputs[0];
    int8_t *output = call->output;
    uint32_t channels_of_group = p->channels / p->groups;
    for (uint32_t pixel = 0; pixel < call->input_bytes[0]; pixel += p->channels) {
        for (uint32_t group = 0; group < p->groups; group++) {
            for (uint32_t channel = 0; channel < channels_of_group; channel++) {
                output[pixel + channel * p->groups + group] = *input++;
            }
        }
    }
    return KIWICHA_STATUS_OK;
}
