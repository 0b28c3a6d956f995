/* A model on every frame of a camera, as fast as both allow. `python -m tools.camera` runs it on
 * the simulated system. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "machine.h"
#include "runtime.h"

/* What the host has written to DRAM. */
struct order {
    uint32_t program;
    uint32_t program_bytes;
    uint32_t arena;
    uint32_t arena_bytes;
    uint32_t count; /* of inferences */
    uint32_t left;  /* of what is taken of a frame */
    uint32_t top;
    uint32_t step;
    uint32_t width;
    uint32_t height;
    uint32_t report; /* receives struct report, and a struct answer of each inference behind it */
};

struct report {
    uint32_t frames;
    uint32_t dropped;
};

#define ANSWER_BYTES 16

struct answer {
    uint32_t number; /* of the frame */
    uint32_t cycle;  /* at which it was there */
    uint8_t output[ANSWER_BYTES];
};

/* Fields of the camera's control register. */
#define CONTROL_ENABLE 1u
#define CONTROL_SIGNED 8u

#define PLACES 2u

static struct kiwicha_model model;

static volatile uint32_t *register_at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

static void *memory_at(uint32_t address)
{
    return (void *)(uintptr_t)address;
}

/* Has frames written to both places of the model's input in turn. */
static void start_camera(const struct order *order)
{
    const uint32_t first = (uint32_t)(uintptr_t)kiwicha_tensor_data(&model, &model.inputs[0]);
    *register_at(KIWICHA_CSR_CAMERA_LEFT) = order->left;
    *register_at(KIWICHA_CSR_CAMERA_TOP) = order->top;
    *register_at(KIWICHA_CSR_CAMERA_STEP) = order->step;
    *register_at(KIWICHA_CSR_CAMERA_WIDTH) = order->width;
    *register_at(KIWICHA_CSR_CAMERA_HEIGHT) = order->height;
    *register_at(KIWICHA_CSR_CAMERA_PLACE0) = first;
    *register_at(KIWICHA_CSR_CAMERA_PLACE1) = first + model.shift_bytes;
    *register_at(KIWICHA_CSR_CAMERA_CONTROL) = CONTROL_ENABLE | CONTROL_SIGNED;
    *register_at(KIWICHA_CSR_CAMERA_ARM) = (1u << PLACES) - 1;
}

/* One inference for each frame that there is a place for. */
static enum kiwicha_status run(const struct order *order, struct answer *answers)
{
    enum kiwicha_status status = KIWICHA_STATUS_OK;
    for (uint32_t k = 0; k < order->count && status == KIWICHA_STATUS_OK; ++k) {
        const uint32_t place = 1u << k % PLACES;
        while ((*register_at(KIWICHA_CSR_CAMERA_ARMED) & place) != 0) {
        }
        answers[k].cycle = kiwicha_platform_cycles();
        answers[k].number =
            *register_at(k % PLACES == 0 ? KIWICHA_CSR_CAMERA_NUMBER0 : KIWICHA_CSR_CAMERA_NUMBER1);
        /* A layer on the CPU must not see what the cache has of an earlier frame. */
        kiwicha_platform_forget_cached();
        status = kiwicha_invoke(&model, NULL, NULL, NULL);
        /* Its input is read: the next frame but one may come. */
        *register_at(KIWICHA_CSR_CAMERA_ARM) = place;
        const struct kiwicha_io_record *output = &model.outputs[0];
        const uint8_t *bytes = kiwicha_tensor_data(&model, output);
        for (uint32_t at = 0; at < ANSWER_BYTES; ++at) {
            answers[k].output[at] = at < output->tensor.bytes ? bytes[at] : 0;
        }
    }
    return status;
}

int main(void)
{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    const struct order order = *(const struct order *)memory_at(KIWICHA_IMAGE_ADDRESS);
    enum kiwicha_status status = kiwicha_open(&model, memory_at(order.program), order.program_bytes,
                                              memory_at(order.arena), order.arena_bytes);
    if (status != KIWICHA_STATUS_OK) {
        return (int)status;
    }
    struct report *report = memory_at(order.report);
    start_camera(&order);
    status = run(&order, (struct answer *)(report + 1));
    report->dropped = *register_at(KIWICHA_CSR_CAMERA_DROPPED);
    report->frames = *register_at(KIWICHA_CSR_CAMERA_FRAMES);
    *register_at(KIWICHA_CSR_CAMERA_CONTROL) = 0;
    kiwicha_platform_drain_stores();
    return (int)status;
}
