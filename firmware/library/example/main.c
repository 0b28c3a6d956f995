/* Runs the model twice, on inputs that mean nothing, and prints what comes out. C11 and C++17. */
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"
#include "runtime/platform.h"
#include "runtime/runtime.h"

#define INFERENCES 2
#define PRINTED_BYTES 16u

/* Whole lines of the data cache, so that it can forget the arena while the engine works. */
alignas(KIWICHA_CACHE_LINE_BYTES) static uint8_t arena[SAMPLE_ARENA_BYTES];
static struct kiwicha_model model;

static void print_number(uint32_t value)
{
    char digits[11];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    kiwicha_platform_print(&digits[at]);
}

static void print_byte(uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    const char text[] = {digits[byte >> 4], digits[byte & 15], '\0'};
    kiwicha_platform_print(text);
}

/* Writes an input where the model reads it: nothing is copied. */
static void write_input(const struct kiwicha_io_record *input)
{
    uint8_t *bytes = (uint8_t *)kiwicha_tensor_data(&model, input);
    for (uint32_t k = 0; k < input->tensor.bytes; k++) {
        bytes[k] = (uint8_t)(input->dtype == KIWICHA_DTYPE_FLOAT32 ? 0 : 7 * k);
    }
}

/* Prints the first bytes of an output, and the sum of all, from where the model has left them. */
static void print_output(const struct kiwicha_io_record *output)
{
    const uint8_t *bytes = (const uint8_t *)kiwicha_tensor_data(&model, output);
    uint32_t sum = 0;
    kiwicha_platform_print(kiwicha_tensor_name(&model, output));
    kiwicha_platform_print(": ");
    for (uint32_t k = 0; k < output->tensor.bytes; k++) {
        sum += bytes[k];
        if (k < PRINTED_BYTES) {
            print_byte(bytes[k]);
        }
    }
    kiwicha_platform_print(", sum ");
    print_number(sum);
    kiwicha_platform_print("\n");
}

static enum kiwicha_status run(void)
{
    enum kiwicha_status status =
        kiwicha_open(&model, sample_program, SAMPLE_PROGRAM_BYTES, arena, (uint32_t)sizeof(arena));
    for (int k = 0; k < INFERENCES && status == KIWICHA_STATUS_OK; k++) {
        /* Every time: an inference uses the place of its inputs for other tensors. */
        for (uint32_t input = 0; input < model.input_count; input++) {
            write_input(&model.inputs[input]);
        }
        status = kiwicha_invoke(&model, NULL, NULL, NULL);
    }
    return status;
}

#if defined(__cplusplus) && !__STDC_HOSTED__
/* What start-up code calls. */
extern "C" int main(void);
#endif

int main(void)
{
    kiwicha_platform_enable_cfu();
    const enum kiwicha_status status = run();
    if (status != KIWICHA_STATUS_OK) {
        kiwicha_platform_print(kiwicha_status_text(status));
        kiwicha_platform_print("\n");
        return 1;
    }
    for (uint32_t output = 0; output < model.output_count; output++) {
        print_output(&model.outputs[output]);
    }
    kiwicha_platform_print("cycles: ");
    print_number(model.cycles);
    kiwicha_platform_print("\n");
    kiwicha_close(&model);
    return 0;
}
