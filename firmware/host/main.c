/* Runs one Program natively, once for each set of inputs:
 * kiwicha_native PROGRAM INPUT... --output FILE... */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiwicha_isa.h"
#include "runtime.h"

/** Exit code for wrong arguments and unreadable files; statuses are smaller. */
#define EXIT_USAGE 64

static const char usage[] = "usage: kiwicha_native PROGRAM [INPUT...] [--output FILE...] "
                            "[--arena-bytes N] [--reset-at K]\n";

struct arguments {
    const char *program;
    char **inputs;
    char **outputs;
    uint32_t input_count;
    uint32_t output_count;
    bool has_arena_bytes;
    uint32_t arena_bytes;
    uint32_t reset_at; /**< the inference that begins with the first states again */
};

struct bytes {
    uint8_t *data;
    uint32_t count;
};

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
        } else if (strcmp(argv[next], "--reset-at") == 0 && next + 1 < argc) {
            arguments.reset_at = parse_number(argv[next + 1]);
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

/** Inferences in a row, each with its own files. */
struct stream {
    const struct arguments *arguments;
    struct kiwicha_model *model;
    uint32_t inferences;
    uint32_t loaded; /**< so many have their inputs in the arena */
};

static struct stream stream_of(const struct arguments *arguments, struct kiwicha_model *model)
{
    const uint32_t count = model->input_count;
    struct stream stream = {arguments, model, count == 0 ? 1 : arguments->input_count / count, 0};
    if (stream.inferences == 0 || arguments->input_count != stream.inferences * count) {
        refuse(arguments->program, "needs another number of inputs");
    }
    if (arguments->output_count != stream.inferences * model->output_count) {
        refuse(arguments->program, "needs another number of outputs");
    }
    return stream;
}

/** Writes the inputs of the next inference that has none, if there is one, to their place. */
static void load_inputs(struct stream *stream)
{
    if (stream->loaded == stream->inferences) {
        return;
    }
    const struct kiwicha_model *model = stream->model;
    char **files = stream->arguments->inputs + stream->loaded++ * model->input_count;
    for (uint32_t k = 0; k < model->input_count; k++) {
        struct bytes input = read_file(files[k]);
        if (input.count != model->inputs[k].tensor.bytes) {
            refuse(files[k], "has not the size of the input tensor");
        }
        memcpy(kiwicha_tensor_data(model, &model->inputs[k]), input.data, input.count);
        free(input.data);
    }
}

/** Writes the next inputs as early as they may be: during the first step. */
static void load_during(void *context, uint32_t step)
{
    if (step == 0) {
        load_inputs(context);
    }
}

static void store_outputs(const struct stream *stream, uint32_t inference, const uint8_t *arena)
{
    const struct kiwicha_model *model = stream->model;
    char **files = stream->arguments->outputs + inference * model->output_count;
    for (uint32_t k = 0; k < model->output_count; k++) {
        const struct kiwicha_ref *tensor = &model->outputs[k].tensor;
        write_file(files[k], arena + tensor->offset, tensor->bytes);
    }
}

/** Executes all inferences; with a double buffer each one beside files of its neighbours. */
static enum kiwicha_status run(struct stream *stream)
{
    struct kiwicha_model *model = stream->model;
    const bool has_two = model->shift_bytes != 0;
    enum kiwicha_status status = KIWICHA_STATUS_OK;
    const uint8_t *arena = NULL;
    for (uint32_t k = 0; k < stream->inferences && status == KIWICHA_STATUS_OK; k++) {
        if (k == 0 || !has_two) {
            load_inputs(stream);
        }
        if (k > 0 && k == stream->arguments->reset_at) {
            status = kiwicha_reset(model);
        }
        if (status == KIWICHA_STATUS_OK) {
            status = kiwicha_invoke(model, NULL, has_two ? load_during : NULL, stream);
        }
        if (has_two && k > 0) {
            store_outputs(stream, k - 1, arena);
        }
        arena = model->last_arena;
        if (status == KIWICHA_STATUS_OK && (!has_two || k + 1 == stream->inferences)) {
            store_outputs(stream, k, arena);
        }
    }
    return status;
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
        struct stream stream = stream_of(&arguments, &model);
        status = run(&stream);
    }
    if (status != KIWICHA_STATUS_OK) {
        fprintf(stderr, "kiwicha_native: status %d, step %u\n", (int)status,
                (unsigned)model.failed_step);
    }
    free(arena);
    free(program.data);
    return (int)status;
}
