/* Runs Programs one after the other, until one comes to something else than it must:
 * kiwicha_native CASES
 *
 * The file has for each case eight words, then a Program, inputs of all inferences and the outputs
 * that they must give. The words are two statuses that are right, bytes of the three parts, the
 * number of inferences, what the arena is filled with, and 0. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiwicha_isa.h"
#include "runtime.h"

enum { EXIT_WRONG = 1, EXIT_USAGE = 64, WORDS = 8 };

struct item {
    uint32_t statuses[2];
    uint32_t program_bytes;
    uint32_t input_bytes;
    uint32_t output_bytes;
    uint32_t inferences;
    uint32_t fill;
    uint32_t reserved;
};

static uint8_t* allocate(size_t count) {
    void* memory = NULL;
    if (posix_memalign(&memory, KIWICHA_ALIGNMENT_BYTES, count > 0 ? count : 1) != 0) {
        exit(EXIT_USAGE);
    }
    return memory;
}

static void read_all(FILE* file, void* data, size_t count) {
    if (fread(data, 1, count, file) != count) {
        exit(EXIT_USAGE);
    }
}

static bool are_right(const struct kiwicha_model* model, const uint8_t** wanted) {
    for (uint32_t k = 0; k < model->output_count; k++) {
        const struct kiwicha_ref* tensor = &model->outputs[k].tensor;
        if (memcmp(model->last_arena + tensor->offset, *wanted, tensor->bytes) != 0) {
            return false;
        }
        *wanted += tensor->bytes;
    }
    return true;
}

static bool is_right(const struct item* item, const uint8_t* program, const uint8_t* inputs,
                     const uint8_t* wanted, uint8_t* arena, uint32_t arena_bytes) {
    struct kiwicha_model model;
    enum kiwicha_status status =
        kiwicha_open(&model, program, item->program_bytes, arena, arena_bytes);
    for (uint32_t n = 0; n < item->inferences && status == KIWICHA_STATUS_OK; n++) {
        for (uint32_t k = 0; k < model.input_count; k++) {
            const uint32_t bytes = model.inputs[k].tensor.bytes;
            memcpy(kiwicha_tensor_data(&model, &model.inputs[k]), inputs, bytes);
            inputs += bytes;
        }
        status = kiwicha_invoke(&model, NULL, NULL, NULL);
        if (status == KIWICHA_STATUS_OK && !are_right(&model, &wanted)) {
            return false;
        }
    }
    return (uint32_t)status == item->statuses[0] || (uint32_t)status == item->statuses[1];
}

int main(int argc, char** argv) {
    FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        return EXIT_USAGE;
    }
    struct item item;
    for (unsigned number = 0; fread(&item, sizeof(item), 1, file) == 1; number++) {
        uint8_t* program = allocate(item.program_bytes);
        uint8_t* inputs = allocate(item.input_bytes);
        uint8_t* wanted = allocate(item.output_bytes);
        read_all(file, program, item.program_bytes);
        read_all(file, inputs, item.input_bytes);
        read_all(file, wanted, item.output_bytes);
        const struct kiwicha_program_header* header = (const void*)program;
        const uint32_t arena_bytes = header->arena_bytes;
        uint8_t* arena = allocate(arena_bytes);
        /* What an inference does not write must not decide its result. */
        memset(arena, (int)item.fill, arena_bytes);
        if (!is_right(&item, program, inputs, wanted, arena, arena_bytes)) {
            printf("%u\n", number);
            return EXIT_WRONG;
        }
        free(arena);
        free(wanted);
        free(inputs);
        free(program);
    }
    return 0;
}
