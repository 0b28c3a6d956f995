#include "cfu.h"
#include "check.h"
#include "kernels.h"

/** The columns of one output row's windows lie in rows y_begin to y_end of the input. */
struct rows {
    uint32_t begin;
    uint32_t end;
};

/** MAX_POOL_2D with a multiple of 4 channels. */
KIWICHA_SMALL enum kiwicha_status kiwicha_check_simd_max_pool(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    const struct kiwicha_pool *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_pool(&check, p, sizeof(kiwicha_word));
    kiwicha_require(&check, p->channels % 4 == 0);
    return check.status;
}

static struct rows clip(uint32_t position, uint32_t pad, uint32_t kernel, uint32_t size)
{
    const int32_t first = (int32_t)position - (int32_t)pad;
    const int32_t last = first + (int32_t)kernel;
    return (struct rows){first < 0 ? 0 : (uint32_t)first,
                         last < (int32_t)size ? (uint32_t)last : size};
}

static uint32_t four_times(int32_t value)
{
    return (uint32_t)(uint8_t)value * 0x01010101u;
}

/** Clamps four int8; as -1 - x reverses their order, the minimum is a maximum of complements. */
static uint32_t clamp(uint32_t word, uint32_t minimum, uint32_t maximum)
{
    return ~kiwicha_cfu_max(~kiwicha_cfu_max(word, minimum), ~maximum);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_run_simd_max_pool(const struct kiwicha_memory *memory,
                                                            const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_pool *p = params;
    const kiwicha_word *input = kiwicha_source(memory, &p->input);
    kiwicha_word *output = kiwicha_target(memory, &p->output);
    const uint32_t words = p->channels / 4;
    const uint32_t minimum = four_times(p->activation_min);
    const uint32_t maximum = four_times(p->activation_max);
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out_y = 0; out_y < p->output_height; out_y++) {
            const struct rows y =
                clip(out_y * p->stride_height, p->pad_top, p->kernel_height, p->input_height);
            for (uint32_t out_x = 0; out_x < p->output_width; out_x++) {
                const struct rows x =
                    clip(out_x * p->stride_width, p->pad_left, p->kernel_width, p->input_width);
                for (uint32_t word = 0; word < words; word++) {
                    uint32_t largest = minimum;
                    for (uint32_t row = y.begin; row < y.end; row++) {
                        const kiwicha_word *pixel =
                            input + (row * p->input_width + x.begin) * words + word;
                        for (uint32_t column = x.begin; column < x.end; column++) {
                            largest = kiwicha_cfu_max(largest, *pixel);
                            pixel += words;
                        }
                    }
                    *output++ = clamp(largest, minimum, maximum);
                }
            }
        }
        input += p->input_height * p->input_width * words;
    }
    return KIWICHA_STATUS_OK;
}
