/* Another example, for a system whose engine has an interrupt: `make EXAMPLE=sleep.c`. It runs the
 * model while a timer counts, sleeps as long as only the engine works, and says how long. */

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interrupts.h"
#include "kernels/engine.h"
#include "kiwicha_isa.h"
#include "machine.h"
#include "model/sample.h"
#include "runtime/runtime.h"

#define TICK_CYCLES 1000u
#define INFERENCES 4u

alignas(KIWICHA_CACHE_LINE_BYTES) static uint8_t arena[SAMPLE_ARENA_BYTES];
static struct kiwicha_model model;
static volatile uint32_t ticks;

static void on_timer(void)
{
    ++ticks;
}

static void write_inputs(void)
{
    for (uint32_t index = 0; index < model.input_count; ++index) {
        const struct kiwicha_io_record *input = &model.inputs[index];
        uint8_t *bytes = kiwicha_tensor_data(&model, input);
        for (uint32_t k = 0; k < input->tensor.bytes; ++k) {
            bytes[k] = (uint8_t)(input->dtype == KIWICHA_DTYPE_FLOAT32 ? 0 : 7 * k);
        }
    }
}

static uint32_t sum_of_output(void)
{
    const uint8_t *bytes = kiwicha_tensor_data(&model, &model.outputs[0]);
    uint32_t sum = 0;
    for (uint32_t k = 0; k < model.outputs[0].tensor.bytes; ++k) {
        sum += bytes[k];
    }
    return sum;
}

/* Sleeps while only the engine works; returns for how long. */
static uint32_t sleep(void)
{
    uint32_t cycles = 0;
    /* What is waited for is looked at where no interrupt can come in between. */
    kiwicha_platform_mask_interrupts();
    if (kiwicha_is_engine_working()) {
        cycles = kiwicha_platform_cycles();
        kiwicha_platform_sleep();
        cycles = kiwicha_platform_cycles() - cycles;
    }
    kiwicha_platform_unmask_interrupts();
    return cycles;
}

static void print(const char *name, uint32_t value)
{
    kiwicha_platform_print(name);
    kiwicha_platform_print_hex(value);
    kiwicha_platform_print("\n");
}

int main(void);

int main(void)
{
    uint32_t asleep = 0;
    kiwicha_platform_enable_cfu();
    enum kiwicha_status status =
        kiwicha_open(&model, sample_program, SAMPLE_PROGRAM_BYTES, arena, (uint32_t)sizeof arena);
    kiwicha_platform_enable_interrupts(on_timer);
    kiwicha_platform_set_timer(TICK_CYCLES, TICK_CYCLES);
    const uint32_t start = kiwicha_platform_cycles();
    for (uint32_t k = 0; k < INFERENCES && status == KIWICHA_STATUS_OK; ++k) {
        write_inputs();
        status = kiwicha_start(&model, NULL, NULL, NULL);
        while (status == KIWICHA_STATUS_OK && model.is_running) {
            asleep += sleep();
            status = kiwicha_poll(&model);
        }
    }
    const uint32_t cycles = kiwicha_platform_cycles() - start;
    if (status != KIWICHA_STATUS_OK) {
        kiwicha_platform_print(kiwicha_status_text(status));
        kiwicha_platform_print("\n");
        return (int)status;
    }
    print("sum of the output: 0x", sum_of_output());
    print("cycles: 0x", cycles);
    print("of them asleep: 0x", asleep);
    print("ticks: 0x", ticks);
    return 0;
}
