#include <stddef.h>

#include "check.h"
#include "index.h"
#include "kernels.h"
#include "pool_window.h"
#include "requantize.h"
#include "shorts.h"

#define MAX_WINDOW 65535u /* elements whose sum an int32 holds, with half of their number */

KIWICHA_SMALL enum kiwicha_status kiwicha_check_short_pool(const struct kiwicha_memory *memory,
                                                           const void *params)
{
    const struct kiwicha_pool *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    struct kiwicha_pool of_bytes = *p;
    of_bytes.input = kiwicha_as_bytes(p->input);
    of_bytes.output = kiwicha_as_bytes(p->output);
    of_bytes.activation_min = INT8_MIN;
    of_bytes.activation_max = INT8_MAX;
    kiwicha_require_pool(&check, &of_bytes, 1);
    kiwicha_require_shorts(&check, &p->input);
    kiwicha_require_short_output(&check, &p->output, p->activation_min, p->activation_max);
    kiwicha_require(&check, p->offset == 0);
    if (check.status == KIWICHA_STATUS_OK) {
        const uint32_t height =
            p->kernel_height < p->input_height ? p->kernel_height : p->input_height;
        const uint32_t width = p->kernel_width < p->input_width ? p->kernel_width : p->input_width;
        kiwicha_require(&check, height * width <= MAX_WINDOW);
    }
    return check.status;
}

static inline int32_t average(const struct kiwicha_pool *p, const int16_t *input, uint32_t batch,
                              const struct window *window, uint32_t channel)
{
    const int32_t count =
        (int32_t)((window->y_end - window->y_begin) * (window->x_end - window->x_begin));
    int32_t sum = 0;
    for (uint32_t y = window->y_begin; y < window->y_end; y++) {
        for (uint32_t x = window->x_begin; x < window->x_end; x++) {
            sum += input[kiwicha_index(p->input_height, p->input_width, p->channels, batch, y, x,
                                       channel)];
        }
    }
    return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

static inline int32_t maximum(const struct kiwicha_pool *p, const int16_t *input, uint32_t batch,
                              const struct window *window, uint32_t channel)
{
    int32_t result = INT16_MIN;
    for (uint32_t y = window->y_begin; y < window->y_end; y++) {
        for (uint32_t x = window->x_begin; x < window->x_end; x++) {
            const int32_t value = input[kiwicha_index(p->input_height, p->input_width, p->channels,
                                                      batch, y, x, channel)];
            result = value > result ? value : result;
        }
    }
    return result;
}

static inline __attribute__((always_inline)) enum kiwicha_status
run(const struct kiwicha_memory *memory, const void *params,
    int32_t (*reduce)(const struct kiwicha_pool *, const int16_t *, uint32_t, const struct window *,
                      uint32_t))
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_pool *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    int16_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t out_y = 0; out_y < p->output_height; out_y++) {
            for (uint32_t out_x = 0; out_x < p->output_width; out_x++) {
                const struct window window = window_at(p, out_y, out_x);
                for (uint32_t channel = 0; channel < p->channels; channel++) {
                    const int32_t result = reduce(p, input, batch, &window, channel);
                    *output++ =
                        (int16_t)kiwicha_clamp(result, p->activation_min, p->activation_max);
                }
            }
        }
    }
    return KIWICHA_STATUS_OK;
}

/** Mean of the elements inside the input, half away from zero, then clamp. */
enum kiwicha_status kiwicha_run_short_average_pool(const struct kiwicha_memory *memory,
                                                   const void *params)
{
    return run(memory, params, average);
}

/** Maximum of the elements inside the input, then clamp. */
enum kiwicha_status kiwicha_run_short_max_pool(const struct kiwicha_memory *memory,
                                               const void *params)
{
    return run(memory, params, maximum);
}
