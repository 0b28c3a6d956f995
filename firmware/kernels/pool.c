#include "check.h"
#include "index.h"
#include "kernels.h"
#include "pool_window.h"
#include "requantize.h"

KIWICHA_SMALL enum kiwicha_status kiwicha_check_pool(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_pool(&check, params, 1);
    return check.status;
}

KIWICHA_FALLBACK static int32_t average(const struct kiwicha_pool *p, const int8_t *input,
                                        uint32_t batch, const struct window *window,
                                        uint32_t channel)
{
    int32_t sum = 0;
    int32_t count = 0;
    for (uint32_t y = window->y_begin; y < window->y_end; y++) {
        for (uint32_t x = window->x_begin; x < window->x_end; x++) {
            sum += input[kiwicha_index(p->input_height, p->input_width, p->channels, batch, y, x,
                                       channel)];
            count++;
        }
    }
    sum += p->offset * count;
    return (sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count) - p->offset;
}

KIWICHA_FALLBACK static int32_t maximum(const struct kiwicha_pool *p, const int8_t *input,
                                        uint32_t batch, const struct window *window,
                                        uint32_t channel)
{
    int32_t result = INT8_MIN;
    for (uint32_t y = window->y_begin; y < window->y_end; y++) {
        for (uint32_t x = window->x_begin; x < window->x_end; x++) {
            int32_t value = input[kiwicha_index(p->input_height, p->input_width, p->channels, batch,
                                                y, x, channel)];
            result = value > result ? value : result;
        }
    }
    return result;
}

KIWICHA_FALLBACK static inline enum kiwicha_status
run(const struct kiwicha_memory *memory, const void *params,
    int32_t (*reduce)(const struct kiwicha_pool *, const int8_t *, uint32_t, const struct window *,
                      uint32_t))
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_pool *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    int8_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out_y = 0; out_y < p->output_height; out_y++) {
            for (uint32_t out_x = 0; out_x < p->output_width; out_x++) {
                const struct window window = window_at(p, out_y, out_x);
                for (uint32_t channel = 0; channel < p->channels; channel++) {
                    int32_t result = reduce(p, input, batch, &window, channel);
                    output[kiwicha_index(p->output_height, p->output_width, p->channels, batch,
                                         out_y, out_x, channel)] =
                        (int8_t)kiwicha_clamp(result, p->activation_min, p->activation_max);
                }
            }
        }
    }
    return KIWICHA_STATUS_OK;
}

/** Mean of the elements inside the input, half away from zero, then clamp. */
KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_average_pool(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    return run(memory, params, average);
}

/** Maximum of the elements inside the input, then clamp. */
KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_max_pool(const struct kiwicha_memory *memory,
                                                          const void *params)
{
    return run(memory, params, maximum);
}
