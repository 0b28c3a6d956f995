/* Runs one Program natively: kiwicha_native PROGRAM INPUT... --output FILE... */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kiwicha_isa.h"
#include "platform.h"
#include "runtime.h"

/** Exit code for wrong arguments and unreadable files; statuses are smaller. */
#define EXIT_USAGE 64

static const char usage[] =
    "usage: kiwicha_native PROGRAM [INPUT...] [--output FILE...] [--arena-bytes N]\n";

struct arguments {
    const char *program;
    char **inputs;
    char **outputs;
    uint32_t input_count;
    uint32_t output_count;
    bool has_arena_bytes;
    uint32_t arena_bytes;
};

struct bytes {
    uint8_t *data;
    uint32_t count;
};

uint32_t kiwicha_platform_cycles(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint32_t)now.tv_sec * 1000000000u + (uint32_t)now.tv_nsec;
}

static void refuse(const char *subject, const char *text)
{
    fprintf(stderr, "kiwicha_native: %s %s\n", subject, text);
    exit(EXIT_USAGE);
}

/** Memory that starts at a multiple of 16 and, under a sanitizer, ends exactly where it should. */
static uint8_t *allocate(size_t count)
{
    uint8_t *memory = NULL;
    if (posix_memalign((void **)&memory, KIWICHA_ALIGNMENT_BYTES, count > 0 ? count : 1) != 0) {
        refuse("memory", "must be larger");
    }
    return memory;
}

static struct bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    if (size < 0 || size > INT32_MAX) {
        refuse(path, "must be a readable file of less than 2 GiB");
    }
    struct bytes bytes = {allocate((size_t)size), (uint32_t)size};
    if (fread(bytes.data, 1, bytes.count, file) != bytes.count) {
        refuse(path, "must be readable");
    }
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const void *data, uint32_t count)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, count, file) != count || fclose(file) != 0) {
        refuse(path, "must be writable");
    }
}

static uint32_t parse_number(const char *text)
{
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 0);
    if (end == text || *end != '\0' || value > UINT32_MAX) {
        refuse(text, "must be a 32-bit number");
    }
    return (uint32_t)value;
}

static struct arguments parse(int argc, char **argv)
{
    struct arguments arguments = {0};
    int next = 1;
    if (argc < 2 || argv[1][0] == '-') {
        fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
    arguments.program = argv[next++];
    arguments.inputs = argv + next;
    while (next < argc && argv[next][0] != '-') {
        arguments.input_count++;
        next++;
    }
    while (next < argc) {
        if (strcmp(argv[next], "--output") == 0) {
            arguments.outputs = argv + ++next;
            while (next < argc && argv[next][0] != '-') {
                arguments.output_count++;
                next++;
            }
        } else if (strcmp(argv[next], "--arena-bytes") == 0 && next + 1 < argc) {
            arguments.has_arena_bytes = true;
            arguments.arena_bytes = parse_number(argv[next + 1]);
            next += 2;
        } else {
            fputs(usage, stderr);
            exit(EXIT_USAGE);
        }
    }
    return arguments;
}

/** The size that the Program's header asks for, whatever the rest of it looks like. */
static uint32_t wanted_arena_bytes(const struct arguments *arguments, const struct bytes *program)
{
    if (arguments->has_arena_bytes) {
        return arguments->arena_bytes;
    }
    const struct kiwicha_program_header *header = (const void *)program->data;
    return program->count < sizeof(*header) ? 0 : header->arena_bytes;
}

static void load_inputs(const struct arguments *arguments, const struct kiwicha_model *model)
{
    if (arguments->input_count != model->input_count) {
        refuse(arguments->program, "needs another number of inputs");
    }
    for (uint32_t k = 0; k < model->input_count; k++) {
        struct bytes input = read_file(arguments->inputs[k]);
        if (input.count != model->inputs[k].tensor.bytes) {
            refuse(arguments->inputs[k], "has not the size of the input tensor");
        }
        memcpy(kiwicha_tensor_data(model, &model->inputs[k]), input.data, input.count);
        free(input.data);
    }
}

static void store_outputs(const struct arguments *arguments, const struct kiwicha_model *model)
{
    if (arguments->output_count != model->output_count) {
        refuse(arguments->program, "needs another number of outputs");
    }
    for (uint32_t k = 0; k < model->output_count; k++) {
        write_file(arguments->outputs[k], kiwicha_tensor_data(model, &model->outputs[k]),
                   model->outputs[k].tensor.bytes);
    }
}

int main(int argc, char **argv)
{
    const struct arguments arguments = parse(argc, argv);
    struct bytes program = read_file(arguments.program);
    const uint32_t arena_bytes = wanted_arena_bytes(&arguments, &program);
    uint8_t *arena = allocate(arena_bytes);
    /* What an inference does not write must not decide its result. */
    memset(arena, 0xa5, arena_bytes);
    struct kiwicha_model model;
    enum kiwicha_status status =
        kiwicha_open(&model, program.data, program.count, arena, arena_bytes);
    if (status == KIWICHA_STATUS_OK) {
        load_inputs(&arguments, &model);
        status = kiwicha_invoke(&model, NULL, NULL, NULL);
    }
    if (status == KIWICHA_STATUS_OK) {
        store_outputs(&arguments, &model);
    } else {
        fprintf(stderr, "kiwicha_native: status %d, step %u\n", (int)status,
                (unsigned)model.failed_step);
    }
    free(arena);
    free(program.data);
    return (int)status;
}
