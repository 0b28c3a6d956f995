/* Opens and executes spoilt copies of a Program, one after the other:
 * kiwicha_fuzz PROGRAM FIRST LAST (random | flips | spread)
 *
 * Memory of a Program and of its arena ends where it should: a sanitizer stops at the first access
 * behind it. Both are allocated once. Prints how many were opened and how many there were. */
#include "runtime.h"

#include <sanitizer/asan_interface.h>
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
#define CHECKSUM_FROM offsetof(struct kiwicha_program_header, checksum)
#define CHECKED_FROM offsetof(struct kiwicha_program_header, total_bytes)
/** Each bit of a byte, and all of them, which is the last change. */
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

/** Most words that are spoilt at once. */
#define MOST_WORDS 4

/** A word that is not what it was. */
struct change {
    uint32_t place;
    uint32_t before;
    uint32_t after;
};

/** A Program with some words changed, in their order. */
struct spoilt {
    uint8_t* program;
    uint32_t count;
    uint32_t changes;
    struct change change[MOST_WORDS];
};

static uint32_t word_at(const uint8_t* program, uint32_t place) {
    uint32_t word;
    memcpy(&word, program + place, 4);
    return word;
}

/** Writes a word, and what the checksum is with it. */
static void write_word(struct spoilt* spoilt, uint32_t place, uint32_t word) {
    const uint32_t difference = word - word_at(spoilt->program, place);
    memcpy(spoilt->program + place, &word, 4);
    if (place >= CHECKED_FROM) {
        struct kiwicha_program_header* header = (void*)spoilt->program;
        header->checksum[0] += difference;
        header->checksum[1] += difference * ((spoilt->count - place) / 4);
    }
}

static void change_word(struct spoilt* spoilt, uint32_t place, uint32_t word) {
    const struct change change = {place, word_at(spoilt->program, place), word};
    spoilt->change[spoilt->changes++] = change;
    write_word(spoilt, place, word);
}

/** Spoils a word at random; those of the checksum stay right. */
static void spoil_word(struct spoilt* spoilt) {
    static const uint32_t words[] = {0,           1,           2,          15,        16,
                                     0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFF, 0xFFFFFFF0};
    const uint32_t place = draw(spoilt->count / 4) * 4;
    uint32_t word = word_at(spoilt->program, place);
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
    if (place < CHECKSUM_FROM || place >= CHECKED_FROM) {
        change_word(spoilt, place, word);
    }
}

static void flip(struct spoilt* spoilt, uint32_t byte, uint32_t bit) {
    const uint32_t place = byte & ~3u;
    const uint32_t flipped = (bit < 8 ? 1u << bit : 0xFFu) << 8 * (byte % 4);
    change_word(spoilt, place, word_at(spoilt->program, place) ^ flipped);
}

/** Returns a step that visits all bytes of a Program before it comes back to one, evenly. */
static uint32_t stride(uint32_t count) {
    for (uint32_t step = (uint32_t)(count * 0.618) | 1;; step++) {
        uint32_t a = count;
        uint32_t b = step;
        while (b != 0) {
            const uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) {
            return step;
        }
    }
}

enum way { RANDOM, FLIPS, SPREAD };

static void spoil(struct spoilt* spoilt, uint32_t number, enum way way) {
    spoilt->changes = 0;
    random_state = 0x9E3779B97F4A7C15u * (number + 1u);
    if (way == FLIPS) {
        flip(spoilt, number / FLIPS_PER_BYTE, number % FLIPS_PER_BYTE);
    } else if (way == SPREAD) {
        const uint64_t visited = (uint64_t)number * stride(spoilt->count);
        flip(spoilt, (uint32_t)(visited % spoilt->count), draw(FLIPS_PER_BYTE));
    } else {
        for (uint32_t left = 1 + draw(MOST_WORDS); left > 0; left--) {
            spoil_word(spoilt);
        }
    }
}

/** Brings the original back; stops if anything else was written. */
static void mend(struct spoilt* spoilt, const uint8_t* original) {
    bool is_untouched = true;
    while (spoilt->changes > 0) {
        const struct change* last = &spoilt->change[--spoilt->changes];
        is_untouched &= word_at(spoilt->program, last->place) == last->after;
        write_word(spoilt, last->place, last->before);
    }
    if (!is_untouched || memcmp(spoilt->program, original, spoilt->count) != 0) {
        fprintf(stderr, "a Program was written\n");
        exit(EXIT_WRITTEN);
    }
}

/** Lets an arena end, for sanitizers, where the Program says. */
static uint32_t limit_arena(const uint8_t* program, uint8_t* arena) {
    static uint32_t last_bytes;
    const struct kiwicha_program_header* header = (const void*)program;
    const uint32_t wanted = header->arena_bytes;
    const uint32_t arena_bytes = wanted < MOST_ARENA_BYTES ? wanted : MOST_ARENA_BYTES;
    if (arena_bytes != last_bytes) {
        ASAN_UNPOISON_MEMORY_REGION(arena, MOST_ARENA_BYTES);
        ASAN_POISON_MEMORY_REGION(arena + arena_bytes, MOST_ARENA_BYTES - arena_bytes);
        last_bytes = arena_bytes;
    }
    return arena_bytes;
}

/** Opens and executes one; returns whether it was opened. */
static bool try_one(const uint8_t* program, uint32_t count, uint8_t* arena) {
    const uint32_t arena_bytes = limit_arena(program, arena);
    memset(arena, 0x55, arena_bytes);
    struct kiwicha_model model;
    alarm(HANG_SECONDS);
    const bool is_open =
        kiwicha_open(&model, program, count, arena, arena_bytes) == KIWICHA_STATUS_OK;
    if (is_open) {
        (void)kiwicha_invoke(&model, NULL, NULL, NULL);
    }
    alarm(0);
    return is_open;
}

int main(int argc, char** argv) {
    FILE* file = argc == 5 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        refuse("usage: kiwicha_fuzz PROGRAM FIRST LAST (random | flips | spread)");
    }
    uint32_t count = (uint32_t)ftell(file);
    rewind(file);
    uint8_t* original = allocate(count);
    uint8_t* arena = allocate(MOST_ARENA_BYTES);
    struct spoilt spoilt = {.program = allocate(count), .count = count};
    if (fread(original, 1, count, file) != count) {
        refuse("the Program must be readable");
    }
    fclose(file);
    memcpy(spoilt.program, original, count);
    uint32_t first = (uint32_t)strtoul(argv[2], NULL, 10);
    uint32_t last = (uint32_t)strtoul(argv[3], NULL, 10);
    enum way way = RANDOM;
    if (strcmp(argv[4], "random") != 0) {
        way = strcmp(argv[4], "flips") == 0 ? FLIPS : SPREAD;
    }
    if (way == FLIPS && last > count * FLIPS_PER_BYTE) {
        last = count * FLIPS_PER_BYTE;
    }
    signal(SIGALRM, on_alarm);
    uint32_t opened = 0;
    for (uint32_t number = first; number < last; number++) {
        if (number % 10000 == 0) {
            fprintf(stderr, "at %u\n", (unsigned)number);
        }
        spoil(&spoilt, number, way);
        opened += try_one(spoilt.program, count, arena);
        mend(&spoilt, original);
    }
    printf("%u %u\n", (unsigned)opened, (unsigned)(last > first ? last - first : 0));
    free(arena);
    free(spoilt.program);
    free(original);
    return 0;
}
