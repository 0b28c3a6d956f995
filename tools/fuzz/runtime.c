/* Opens and executes spoilt copies of a Program, one after the other:
 * kiwicha_fuzz PROGRAM FIRST LAST (random | flips)
 *
 * Memory of a Program and of its arena ends where it should: a sanitizer stops at the first access
 * behind it. Prints how many were opened and how many there were. */
#include "runtime.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kiwicha_isa.h"

/** Exit codes: wrong arguments; a Program that was written; an inference that did not end. */
#define EXIT_USAGE 64
#define EXIT_WRITTEN 65
#define EXIT_HANGS 66
#define HANG_SECONDS 5
#define MOST_ARENA_BYTES (1u << 20)
#define CHECKED_FROM offsetof(struct kiwicha_program_header, total_bytes)
/** Each bit of a byte, and all of them. */
#define FLIPS_PER_BYTE 9

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % below);
}

static void refuse(const char* text) {
    fprintf(stderr, "kiwicha_fuzz: %s\n", text);
    exit(EXIT_USAGE);
}

static void on_alarm(int number) {
    (void)number;
    static const char text[] = "an inference did not end\n";
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(EXIT_HANGS);
}

static uint8_t* allocate(size_t count) {
    void* memory = NULL;
    if (posix_memalign(&memory, KIWICHA_ALIGNMENT_BYTES, count > 0 ? count : 1) != 0) {
        refuse("memory must be larger");
    }
    return memory;
}

static void spoil_word(uint8_t* program, uint32_t count) {
    static const uint32_t words[] = {0,           1,           2,          15,        16,
                                     0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFF, 0xFFFFFFF0};
    uint32_t place = draw(count / 4) * 4;
    uint32_t word;
    memcpy(&word, program + place, 4);
    switch (draw(4)) {
        case 0:
            word = words[draw(sizeof(words) / sizeof(words[0]))];
            break;
        case 1:
            word += draw(33) - 16;
            break;
        case 2:
            word ^= 1u << draw(32);
            break;
        default:
            word = (word & ~(0xFFu << 8 * (place / 4 % 4))) | draw(256) << 8 * (place / 4 % 4);
            break;
    }
    memcpy(program + place, &word, 4);
}

/** Makes the checksum right again. */
static void sign(uint8_t* program, uint32_t count) {
    struct kiwicha_program_header* header = (void*)program;
    const uint32_t* words = (const void*)(program + CHECKED_FROM);
    uint32_t sum = 0;
    uint32_t sum_of_sums = 0;
    for (uint32_t k = 0; k < (count - CHECKED_FROM) / 4; k++) {
        sum += words[k];
        sum_of_sums += sum;
    }
    header->checksum[0] = sum;
    header->checksum[1] = sum_of_sums;
}

static void spoil(uint8_t* program, uint32_t count, uint32_t number, bool flips) {
    if (flips) {
        uint32_t bit = number % FLIPS_PER_BYTE;
        program[number / FLIPS_PER_BYTE] ^= (uint8_t)(bit < 8 ? 1u << bit : 0xFFu);
    } else {
        random_state = 0x9E3779B97F4A7C15u * (number + 1u);
        for (uint32_t left = 1 + draw(4); left > 0; left--) {
            spoil_word(program, count);
        }
    }
    sign(program, count);
}

/** Opens and executes one; returns whether it was opened. */
static bool try_one(const uint8_t* spoilt, uint32_t count) {
    const struct kiwicha_program_header* header = (const void*)spoilt;
    uint32_t arena_bytes = header->arena_bytes;
    if (arena_bytes > MOST_ARENA_BYTES) {
        arena_bytes = MOST_ARENA_BYTES;
    }
    uint8_t* program = allocate(count);
    uint8_t* arena = allocate(arena_bytes);
    memcpy(program, spoilt, count);
    memset(arena, 0x55, arena_bytes);
    struct kiwicha_model model;
    bool is_open = kiwicha_open(&model, program, count, arena, arena_bytes) == KIWICHA_STATUS_OK;
    if (is_open) {
        alarm(HANG_SECONDS);
        (void)kiwicha_invoke(&model, NULL, NULL, NULL);
        alarm(0);
    }
    if (memcmp(program, spoilt, count) != 0) {
        fprintf(stderr, "a Program was written\n");
        exit(EXIT_WRITTEN);
    }
    free(arena);
    free(program);
    return is_open;
}

int main(int argc, char** argv) {
    FILE* file = argc == 5 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        refuse("usage: kiwicha_fuzz PROGRAM FIRST LAST (random | flips)");
    }
    uint32_t count = (uint32_t)ftell(file);
    rewind(file);
    uint8_t* original = allocate(count);
    uint8_t* spoilt = allocate(count);
    if (fread(original, 1, count, file) != count) {
        refuse("the Program must be readable");
    }
    fclose(file);
    uint32_t first = (uint32_t)strtoul(argv[2], NULL, 10);
    uint32_t last = (uint32_t)strtoul(argv[3], NULL, 10);
    bool flips = strcmp(argv[4], "flips") == 0;
    if (flips && last > count * FLIPS_PER_BYTE) {
        last = count * FLIPS_PER_BYTE;
    }
    signal(SIGALRM, on_alarm);
    uint32_t opened = 0;
    for (uint32_t number = first; number < last; number++) {
        if (number % 10000 == 0) {
            fprintf(stderr, "at %u\n", (unsigned)number);
        }
        memcpy(spoilt, original, count);
        spoil(spoilt, count, number, flips);
        opened += try_one(spoilt, count);
    }
    printf("%u %u\n", (unsigned)opened, (unsigned)(last > first ? last - first : 0));
    free(spoilt);
    free(original);
    return 0;
}
