#include <stddef.h>
#include <string.h>

#include "check.h"
#include "kernels.h"
#include "move.h"
#include "short_pairs.h"
#include "signal_samples.h"

#define COUNTS 3u /* numbers of a state of frames behind its samples */
#define MISSING 0
#define IS_NEW 1
#define IS_VALID 2

KIWICHA_SPECIALIZED bool is_aligned(const void *at)
{
    return (uintptr_t)at % sizeof(kiwicha_word) == 0;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_signal_frames(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    const struct kiwicha_signal_frames *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t numbers = kiwicha_saturating_multiply(p->rows, p->kept);
    const uint32_t samples = kiwicha_saturating_multiply(p->frames, p->step);
    kiwicha_require(&check, numbers < UINT32_MAX / sizeof(int16_t) - COUNTS);
    kiwicha_require(&check, p->size <= p->step || p->size - p->step <= p->kept);
    kiwicha_require(&check, p->period >= 1 && p->period <= (uint32_t)INT16_MAX + 1);
    kiwicha_require(&check, p->copies == 0 || (p->rows == 1 && p->frames == 1));
    kiwicha_require(&check, kiwicha_saturating_multiply(p->copies, p->step) <= p->kept);
    kiwicha_require_source(&check, &p->input, kiwicha_short_bytes(p->rows, samples),
                           sizeof(int16_t));
    kiwicha_require_target(
        &check, &p->output,
        kiwicha_short_bytes(p->rows, kiwicha_saturating_multiply(p->frames, p->size)),
        sizeof(int16_t));
    kiwicha_require_target(&check, &p->state, (numbers + COUNTS) * (uint32_t)sizeof(int16_t),
                           sizeof(int16_t));
    return check.status;
}

/** Copies samples to a place before their own. */
static void move_down(int16_t *to, const int16_t *from, uint32_t count)
{
    uint32_t k = 0;
    if (is_aligned(to) && is_aligned(from)) {
#pragma GCC unroll 4
        for (; k + 1 < count; k += 2) {
            *(kiwicha_word *)(void *)(to + k) = *(const kiwicha_word *)(const void *)(from + k);
        }
    }
    for (; k < count; k++) {
        to[k] = from[k];
    }
}

/** Copies the frame that begins at a place of a line: of what is kept, and the input behind it. */
static void copy_frame(const struct kiwicha_signal_frames *p, int16_t *output, const int16_t *kept,
                       const int16_t *input, uint32_t first)
{
    uint32_t count = 0;
    if (first < p->kept) {
        count = p->kept - first < p->size ? p->kept - first : p->size;
        kiwicha_move(output, kept + first, count * sizeof(*output));
    }
    if (count < p->size) {
        kiwicha_move(output + count, input + (first + count - p->kept),
                     (p->size - count) * sizeof(*output));
    }
}

/** Puts samples behind those of a row that are kept, of which the oldest are forgotten. */
static void keep(int16_t *kept, uint32_t size, const int16_t *input, uint32_t samples)
{
    const uint32_t count = samples < size ? samples : size;
    move_down(kept, kept + count, size - count);
    kiwicha_move(kept + (size - count), input + (samples - count), count * sizeof(*kept));
}

/** SignalFramer, SignalStacker and SignalDelay. */
enum kiwicha_status kiwicha_run_signal_frames(const struct kiwicha_memory *memory,
                                              const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_frames *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    int16_t *output = kiwicha_target(memory, &p->output);
    int16_t *kept = kiwicha_target(memory, &p->state);
    int16_t *counts = kept + p->rows * p->kept;
    if (counts[IS_NEW]) {
        for (uint32_t k = 1; k <= p->copies; k++) {
            kiwicha_move(kept + (p->kept - k * p->step), input, p->step * sizeof(*kept));
        }
    }
    int32_t missing = counts[MISSING];
    bool is_valid = true;
    for (uint32_t row = 0; row < p->rows; row++) {
        missing = counts[MISSING];
        for (uint32_t frame = 0; frame < p->frames; frame++) {
            if (missing > 0) {
                missing--;
                is_valid = false;
                memset(output, 0, p->size * sizeof(*output));
            } else {
                missing = (int32_t)p->period - 1;
                copy_frame(p, output, kept, input, frame * p->step);
            }
            output += p->size;
        }
        keep(kept, p->kept, input, p->frames * p->step);
        kept += p->kept;
        input += p->frames * p->step;
    }
    counts[MISSING] = (int16_t)missing;
    counts[IS_NEW] = 0;
    counts[IS_VALID] = is_valid;
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_signal_overlap_add(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_signal_overlap_add *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require(&check, p->step < p->size);
    kiwicha_require_source(
        &check, &p->input,
        kiwicha_short_bytes(p->rows, kiwicha_saturating_multiply(p->frames, p->size)),
        sizeof(int16_t));
    kiwicha_require_target(
        &check, &p->output,
        kiwicha_short_bytes(p->rows, kiwicha_saturating_multiply(p->frames, p->step)),
        sizeof(int16_t));
    kiwicha_require_target(&check, &p->sums, kiwicha_short_bytes(p->rows, p->size - p->step),
                           sizeof(int16_t));
    return check.status;
}

/** Adds samples of a frame to sums, whose place may be behind the target's. */
static void add_samples(int16_t *target, const int16_t *frame, const int16_t *sums, uint32_t count)
{
    uint32_t k = 0;
    if (is_aligned(target)) {
#pragma GCC unroll 4
        for (; k + 1 < count; k += 2) {
            const int32_t first = kiwicha_clipped_sample(frame[k] + sums[k]);
            const int32_t second = kiwicha_clipped_sample(frame[k + 1] + sums[k + 1]);
            kiwicha_store_shorts(target + k, first, second);
        }
    }
    for (; k < count; k++) {
        target[k] = (int16_t)kiwicha_clipped_sample(frame[k] + sums[k]);
    }
}

/** SignalOverlapAdd. */
enum kiwicha_status kiwicha_run_signal_overlap_add(const struct kiwicha_memory *memory,
                                                   const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_signal_overlap_add *p = params;
    const int16_t *input = kiwicha_source(memory, &p->input);
    int16_t *output = kiwicha_target(memory, &p->output);
    int16_t *sums = kiwicha_target(memory, &p->sums);
    const uint32_t step = p->step, kept = p->size - step;
    const uint32_t given = step < kept ? step : kept;
    for (uint32_t row = 0; row < p->rows; row++) {
        for (uint32_t frame = 0; frame < p->frames; frame++) {
            add_samples(output, input, sums, given);
            kiwicha_move(output + given, input + given, (step - given) * sizeof(*output));
            add_samples(sums, input + step, sums + given, kept - given);
            kiwicha_move(sums + (kept - given), input + (step + kept - given),
                         given * sizeof(*sums));
            input += p->size;
            output += step;
        }
        sums += kept;
    }
    return KIWICHA_STATUS_OK;
}
