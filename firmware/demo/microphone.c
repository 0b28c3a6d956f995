/* A frontend and a model that hears words, on the sound of a microphone while it comes.
 * `kiwicha listen --microphone --target sim` runs it on the simulated system. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "machine.h"
#include "runtime.h"

/* What the host has written to DRAM of a model. */
struct side {
    uint32_t program;
    uint32_t program_bytes;
    uint32_t arena;
    uint32_t arena_bytes;
};

/* What the host wants. */
struct order {
    struct side frontend; /* one input of int16 samples, one output of features */
    struct side model;    /* one input of features, one output */
    uint32_t ring;
    uint32_t ring_samples; /* a power of two */
    uint32_t begin;        /* samples that are there before the first frame is read */
    uint32_t frames;
    uint32_t step_samples; /* from one frame to the next */
    uint32_t hop;          /* frames from one inference to the next */
    uint32_t window;       /* what the model sees next: the features of silence */
    uint32_t places;       /* receives of each frame its first sample's number */
    uint32_t features;     /* receives those of all frames */
    uint32_t answers;      /* receives outputs of all inferences */
    uint32_t report;       /* receives struct report */
};

struct report {
    uint32_t overruns;        /* times that software was too late */
    uint32_t total_cycles;    /* since sound was enabled */
    uint32_t waited_cycles;   /* of them, for samples */
    uint32_t frontend_cycles; /* of all frames */
    uint32_t model_cycles;    /* of all inferences */
    uint32_t written;         /* samples at the end */
};

/* Fields of the microphone's registers. */
#define CONTROL_ENABLE 1u

static struct kiwicha_model frontend;
static struct kiwicha_model model;

static volatile uint32_t *register_at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

static void *memory_at(uint32_t address)
{
    return (void *)(uintptr_t)address;
}

static enum kiwicha_status open(struct kiwicha_model *opened, const struct side *side)
{
    return kiwicha_open(opened, memory_at(side->program), side->program_bytes,
                        memory_at(side->arena), side->arena_bytes);
}

/* Waits until so many samples are in DRAM, and returns how many there are. */
static uint32_t wait_for(uint32_t samples, uint32_t *waited)
{
    const uint32_t start = kiwicha_platform_cycles();
    uint32_t written;
    do {
        written = *register_at(KIWICHA_CSR_MICROPHONE_WRITTEN);
    } while ((int32_t)(written - samples) < 0);
    *waited += kiwicha_platform_cycles() - start;
    return written;
}

/* Reads a frame from the ring; returns whether none of it had been overwritten. */
static bool read_frame(const struct order *order, uint32_t place, int16_t *frame, uint32_t samples)
{
    const int16_t *ring = memory_at(order->ring);
    kiwicha_platform_forget_cached();
    for (uint32_t k = 0; k < samples; ++k) {
        frame[k] = ring[(place + k) & (order->ring_samples - 1)];
    }
    /* The flag is there before a sample goes. */
    return *register_at(KIWICHA_CSR_MICROPHONE_OVERRUN) == 0;
}

/* Reads the frame at a place, or the newest one if that is too late; returns its place. */
static uint32_t next_frame(const struct order *order, uint32_t place, struct report *report)
{
    int16_t *frame = kiwicha_tensor_data(&frontend, &frontend.inputs[0]);
    const uint32_t samples = frontend.inputs[0].tensor.bytes / sizeof *frame;
    uint32_t written = wait_for(place + samples, &report->waited_cycles);
    while (!read_frame(order, place, frame, samples)) {
        ++report->overruns;
        place = written - samples;
        *register_at(KIWICHA_CSR_MICROPHONE_READ) = place;
        *register_at(KIWICHA_CSR_MICROPHONE_CLEAR) = 1;
        written = *register_at(KIWICHA_CSR_MICROPHONE_WRITTEN);
    }
    *register_at(KIWICHA_CSR_MICROPHONE_READ) = place + order->step_samples;
    return place;
}

static enum kiwicha_status listen(const struct order *order, struct report *report)
{
    const uint32_t feature_bytes = frontend.outputs[0].tensor.bytes;
    const uint32_t window_bytes = model.inputs[0].tensor.bytes;
    const uint32_t answer_bytes = model.outputs[0].tensor.bytes;
    uint8_t *window = memory_at(order->window);
    uint8_t *features = memory_at(order->features);
    uint8_t *answers = memory_at(order->answers);
    uint32_t *places = memory_at(order->places);
    uint32_t place = 0;
    wait_for(order->begin, &report->waited_cycles);
    for (uint32_t k = 0; k < order->frames; ++k) {
        place = next_frame(order, place, report);
        places[k] = place;
        place += order->step_samples;
        enum kiwicha_status status = kiwicha_invoke(&frontend, NULL, NULL, NULL);
        if (status != KIWICHA_STATUS_OK) {
            return status;
        }
        report->frontend_cycles += frontend.cycles;
        const uint8_t *newest = kiwicha_tensor_data(&frontend, &frontend.outputs[0]);
        memcpy(features + k * feature_bytes, newest, feature_bytes);
        memmove(window, window + feature_bytes, window_bytes - feature_bytes);
        memcpy(window + window_bytes - feature_bytes, newest, feature_bytes);
        if ((k + 1) % order->hop != 0) {
            continue;
        }
        memcpy(kiwicha_tensor_data(&model, &model.inputs[0]), window, window_bytes);
        status = kiwicha_invoke(&model, NULL, NULL, NULL);
        if (status != KIWICHA_STATUS_OK) {
            return status;
        }
        report->model_cycles += model.cycles;
        memcpy(answers, kiwicha_tensor_data(&model, &model.outputs[0]), answer_bytes);
        answers += answer_bytes;
    }
    return KIWICHA_STATUS_OK;
}

int main(void)
{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    const struct order order = *(const struct order *)memory_at(KIWICHA_IMAGE_ADDRESS);
    enum kiwicha_status status = open(&frontend, &order.frontend);
    if (status == KIWICHA_STATUS_OK) {
        status = open(&model, &order.model);
    }
    if (status != KIWICHA_STATUS_OK) {
        return (int)status;
    }
    struct report report = {0};
    *register_at(KIWICHA_CSR_MICROPHONE_PLACE) = order.ring;
    *register_at(KIWICHA_CSR_MICROPHONE_SIZE) = order.ring_samples;
    *register_at(KIWICHA_CSR_MICROPHONE_CONTROL) = CONTROL_ENABLE;
    const uint32_t start = kiwicha_platform_cycles();
    status = listen(&order, &report);
    report.total_cycles = kiwicha_platform_cycles() - start;
    report.written = *register_at(KIWICHA_CSR_MICROPHONE_WRITTEN);
    *register_at(KIWICHA_CSR_MICROPHONE_CONTROL) = 0;
    *(struct report *)memory_at(order.report) = report;
    kiwicha_platform_drain_stores();
    return (int)status;
}
