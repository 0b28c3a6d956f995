/* Gives a board's loader hostile bytes: kiwicha_fuzz serial FIRST LAST, of the serial line, or
 * kiwicha_fuzz (flash | card) FIRST LAST OLD NEW, of memory whose writing was cut.
 *
 * The loader's own C files run with memory where a board has it; what a request must not touch is
 * poisoned for the sanitizer. Prints how many there were, and of what kind their ends were. */
#define _DEFAULT_SOURCE

#include <sanitizer/asan_interface.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flash.h"
#include "frame.h"
#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "litex.h"
#include "machine.h"
#include "stored.h"

/** Exit codes: wrong arguments; what must not happen; no answer. */
#define EXIT_USAGE 64
#define EXIT_BROKEN 65
#define EXIT_HANGS 66
#define HANG_SECONDS 5
#define PAGE_BYTES 4096u
#define CRC_BYTES 4
#define LONGEST_BLOCK 254

int kiwicha_loader_main(uint32_t last_status);

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % below);
}

static _Noreturn void stop(int code, const char* text) {
    fprintf(stderr, "kiwicha_fuzz: %s\n", text);
    exit(code);
}

static void on_alarm(int number) {
    (void)number;
    static const char text[] = "the loader did not come back\n";
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(EXIT_HANGS);
}

static uint8_t* map(uint32_t address, uint32_t bytes) {
    void* at = (void*)(uintptr_t)address;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != at) {
        stop(EXIT_USAGE, "memory must be free where a board has it");
    }
    return at;
}

static void map_board(void) {
    /* Registers, of which the loader reads that the UART is not full. */
    map(KIWICHA_CSR_UART_TXFULL, PAGE_BYTES);
    map(KIWICHA_ONCHIP_BASE, KIWICHA_ONCHIP_BYTES);
    map(KIWICHA_DRAM_BASE, KIWICHA_SOC_DRAM_BYTES + KIWICHA_LOADER_BYTES);
    /* The loader's own. */
    ASAN_POISON_MEMORY_REGION((void*)(uintptr_t)(KIWICHA_DRAM_BASE + KIWICHA_SOC_DRAM_BYTES),
                              KIWICHA_LOADER_BYTES);
}

/* What the host sends, with silences between its parts, and what it hears. */

#define MOST_PARTS 6
#define PART_BYTES 4096
#define HEARD_BYTES 65536
/** Looks at a silent line: more than a part's rest is waited for, and more than a checksum takes.
 */
#define SILENCE_LOOKS 64
#define QUIET_LOOKS 2048
/** A host asks so often. The loader takes the first for litex_term's frames, and gives up. */
#define MOST_HELLOS 24

static struct {
    uint8_t bytes[MOST_PARTS][PART_BYTES];
    uint32_t length[MOST_PARTS];
    uint32_t parts;
    uint32_t part;
    uint32_t at;
    uint32_t looks;
    uint32_t hellos;
} line;

static uint8_t heard[HEARD_BYTES];
static uint32_t heard_bytes;
static jmp_buf ended;
static jmp_buf started;
static uint32_t jumps;

static void put(uint8_t byte) {
    const uint32_t part = line.parts - 1;
    if (line.length[part] < PART_BYTES) {
        line.bytes[part][line.length[part]++] = byte;
    }
}

static void begin_part(void) { line.length[line.parts++] = 0; }

/** Puts a frame, COBS-coded. */
static void put_frame(const uint8_t* raw, uint32_t count) {
    uint32_t from = 0;
    bool is_open = true;
    while (is_open) {
        uint32_t length = 0;
        while (from + length < count && length < LONGEST_BLOCK && raw[from + length] != 0) {
            ++length;
        }
        put((uint8_t)(length + 1));
        for (uint32_t k = 0; k < length; ++k) {
            put(raw[from + k]);
        }
        from += length;
        is_open = from < count;
        if (length < LONGEST_BLOCK && is_open) {
            ++from;
        }
    }
    put(0);
}

/** Puts bytes with their CRC-32, right or wrong; two of them have room behind. */
static void put_body(uint8_t* body, uint32_t count, bool is_right) {
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t k = 0; k < count; ++k) {
        crc ^= body[k];
        for (uint32_t bit = 0; bit < 8; ++bit) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
        }
    }
    crc = ~crc ^ !is_right;
    memcpy(body + count, &crc, CRC_BYTES);
    put_frame(body, count + CRC_BYTES);
}

static uint32_t drawn_address(void) {
    static const uint32_t places[] = {
        KIWICHA_DRAM_BASE,
        KIWICHA_DRAM_BASE + KIWICHA_SOC_DRAM_BYTES,
        KIWICHA_DRAM_BASE + KIWICHA_SOC_DRAM_BYTES + KIWICHA_LOADER_BYTES,
        KIWICHA_ONCHIP_BASE,
        KIWICHA_ONCHIP_BASE + KIWICHA_ONCHIP_BYTES,
        KIWICHA_CSR_UART_TXFULL,
        0,
    };
    const uint32_t near = places[draw(sizeof places / sizeof places[0])];
    switch (draw(4)) {
        case 0:
            return near;
        case 1:
            return near + draw(64) - 32;
        case 2:
            return KIWICHA_DRAM_BASE + draw(KIWICHA_SOC_DRAM_BYTES);
        default:
            return draw(UINT32_MAX);
    }
}

static uint32_t drawn_count(void) {
    static const uint32_t counts[] = {0,
                                      1,
                                      KIWICHA_SERIAL_DATA_BYTES,
                                      KIWICHA_ONCHIP_BYTES,
                                      KIWICHA_SOC_DRAM_BYTES,
                                      0x7FFFFFFFu,
                                      UINT32_MAX};
    const uint32_t count = counts[draw(sizeof counts / sizeof counts[0])];
    const uint32_t kind = draw(3);
    return kind == 0 ? count : kind == 1 ? count + draw(17) - 8 : draw(2048);
}

static void put_request(void) {
    static uint8_t body[2 * KIWICHA_SERIAL_FRAME_BYTES];
    const uint32_t address = drawn_address();
    const uint32_t words[2] = {address, drawn_count()};
    body[0] = (uint8_t)draw(256);
    body[1] = (uint8_t)(draw(8) != 0 ? 1 + draw(9) : draw(256));
    memcpy(body + 2, words, sizeof words);
    uint32_t count = body[1] == 1 || body[1] == 9 ? 2 : 10;
    if (body[1] == KIWICHA_SERIAL_OP_WRITE) {
        count = 6 + (draw(2) != 0 ? draw(32) : draw(KIWICHA_SERIAL_DATA_BYTES + 64));
    }
    if (draw(16) == 0) {
        count = draw(KIWICHA_SERIAL_FRAME_BYTES + 32);
    }
    for (uint32_t k = 10; k < count; ++k) {
        body[k] = (uint8_t)(draw(4) != 0 ? draw(256) : 0);
    }
    put_body(body, count, draw(16) != 0);
}

static void put_litex(void) {
    for (const char* text = "z6IHG7cYDID6o\n"; *text != '\0'; ++text) {
        put((uint8_t)*text);
    }
    for (uint32_t left = draw(4); left > 0; --left) {
        uint8_t frame[256] = {(uint8_t)draw(4)};
        const uint32_t address = drawn_address();
        const uint32_t bytes = draw(4) != 0 ? 4 + draw(32) : draw(256);
        for (uint32_t k = 0; k < 4; ++k) {
            frame[1 + k] = (uint8_t)(address >> (24 - 8 * k));
        }
        uint16_t crc = 0;
        for (uint32_t k = 0; k <= bytes && k < sizeof frame; ++k) {
            crc ^= (uint16_t)(frame[k] << 8);
            for (uint32_t bit = 0; bit < 8; ++bit) {
                crc = (uint16_t)(crc << 1 ^ ((crc & 0x8000u) != 0 ? 0x1021u : 0));
            }
        }
        crc ^= draw(16) == 0;
        put((uint8_t)bytes);
        put((uint8_t)(crc >> 8));
        put((uint8_t)crc);
        for (uint32_t k = 0; k <= bytes && k < sizeof frame; ++k) {
            put(frame[k]);
        }
    }
}

/** Damages what the last part holds. */
static void damage(void) {
    uint8_t* bytes = line.bytes[line.parts - 1];
    uint32_t* length = &line.length[line.parts - 1];
    static const uint8_t words[] = {0, 1, 2, 254, 255};
    for (uint32_t left = 1 + draw(3); left > 0 && *length > 0; --left) {
        const uint32_t at = draw(*length);
        switch (draw(4)) {
            case 0:
                bytes[at] ^= (uint8_t)(1u << draw(8));
                break;
            case 1:
                bytes[at] = words[draw(sizeof words)];
                break;
            case 2:
                memmove(bytes + at, bytes + at + 1, --*length - at);
                break;
            default:
                *length = draw(4) == 0 ? at : *length;
                bytes[at] = (uint8_t)draw(256);
                break;
        }
    }
}

static void draw_line(void) {
    line.parts = line.part = line.at = line.looks = line.hellos = 0;
    for (uint32_t left = 1 + draw(MOST_PARTS - 1); left > 0; --left) {
        begin_part();
        const uint32_t kind = draw(8);
        if (kind == 0) {
            for (uint32_t count = draw(300); count > 0; --count) {
                put((uint8_t)draw(256));
            }
        } else if (kind == 1) {
            put_litex();
        } else {
            for (uint32_t requests = 1 + draw(3); requests > 0; --requests) {
                put_request();
            }
        }
        if (draw(2) == 0) {
            damage();
        }
    }
}

/** Whether the last frame that was heard says who the board is. */
static bool is_hello_heard(void) {
    static uint8_t body[HEARD_BYTES];
    uint32_t end = heard_bytes;
    if (end == 0 || heard[--end] != 0) {
        return false;
    }
    uint32_t begin = end;
    while (begin > 0 && heard[begin - 1] != 0) {
        --begin;
    }
    uint32_t count = 0;
    while (begin < end) {
        const uint32_t code = heard[begin++];
        for (uint32_t left = code - 1; left > 0 && begin < end; --left) {
            body[count++] = heard[begin++];
        }
        if (code <= LONGEST_BLOCK && begin < end) {
            body[count++] = 0;
        }
    }
    struct kiwicha_serial_hello said;
    if (count != 2 + sizeof said + CRC_BYTES || body[1] != KIWICHA_SERIAL_STATUS_OK) {
        return false;
    }
    memcpy(&said, body + 2, sizeof said);
    return said.magic == KIWICHA_SERIAL_MAGIC && said.config_hash == KIWICHA_CONFIG_HASH;
}

/** After all that the host asks who is there, until it hears. */
static void go_on(void) {
    if (line.hellos > 0 && is_hello_heard()) {
        longjmp(ended, 1);
    }
    if (line.hellos++ == MOST_HELLOS) {
        stop(EXIT_BROKEN, "the loader must answer after hostile bytes");
    }
    uint8_t hello[2 + CRC_BYTES] = {(uint8_t)line.hellos, KIWICHA_SERIAL_OP_HELLO};
    line.parts = line.part = line.at = 0;
    heard_bytes = 0;
    begin_part();
    put(0);
    put_body(hello, 2, true);
}

bool kiwicha_platform_receive(uint8_t* byte) {
    if (line.part < line.parts && line.at < line.length[line.part]) {
        *byte = line.bytes[line.part][line.at++];
        line.looks = 0;
        return true;
    }
    const uint32_t limit = line.part < line.parts ? SILENCE_LOOKS : QUIET_LOOKS;
    if (++line.looks > limit) {
        line.looks = 0;
        line.at = 0;
        if (line.part < line.parts) {
            ++line.part;
        } else {
            go_on();
        }
    }
    return false;
}

void kiwicha_platform_send(uint8_t byte) {
    line.looks = 0;
    if (heard_bytes < HEARD_BYTES) {
        heard[heard_bytes++] = byte;
    }
}

void kiwicha_platform_print(const char* text) {
    while (*text != '\0') {
        kiwicha_platform_send((uint8_t)*text++);
    }
}

uint32_t kiwicha_platform_cycles(void) {
    static uint32_t cycles;
    return cycles += KIWICHA_SYS_CLK_HZ / 100;
}

void kiwicha_platform_forget_cached(void) {}

/** A program runs, and comes back. */
void kiwicha_platform_jump(uint32_t address, uint32_t argument) {
    (void)argument;
    const bool is_onchip = address - KIWICHA_ONCHIP_BASE <= KIWICHA_ONCHIP_BYTES;
    const bool is_dram = address - KIWICHA_DRAM_BASE <= KIWICHA_SOC_DRAM_BYTES;
    if (!is_onchip && !is_dram) {
        stop(EXIT_BROKEN, "what starts must lie in memory for programs");
    }
    ++jumps;
    longjmp(started, 1);
}

static void talk(void) {
    if (setjmp(ended) != 0) {
        return;
    }
    (void)setjmp(started);
    kiwicha_loader_main(draw(2) != 0 ? KIWICHA_NO_STATUS : 0);
}

/* Memory that keeps an image without power. */

#define SECTOR_BYTES 4096u
#define PROGRAM_BYTES 256u
#define BLOCK_BYTES 512u
/** An erasure takes as long as this many bytes are programmed. */
#define ERASE_BYTES 1024u

static uint8_t* stored;
static uint32_t stored_bytes;

static const char* read_stored(uint8_t* to, uint32_t offset, uint32_t bytes) {
    for (uint32_t k = 0; k < bytes; ++k) {
        to[k] = offset + k < stored_bytes ? stored[offset + k] : 0xFF;
    }
    return NULL;
}

bool kiwicha_flash_load(bool (*is_usable)(uint32_t address, uint32_t bytes), uint32_t* start) {
    static const struct kiwicha_place place = {
        .title = "kiwicha: stored: ",
        .without_image = NULL,
        .space_bytes = KIWICHA_FLASH_BYTES - KIWICHA_FLASH_IMAGE_OFFSET,
        .read = read_stored,
    };
    return stored != NULL && kiwicha_stored_load(&place, is_usable, start);
}

/** Erases a sector, or begins to. */
static void erase(uint32_t from, bool is_cut) {
    for (uint32_t k = from; k < from + SECTOR_BYTES; ++k) {
        const uint8_t drawn = (uint8_t)draw(256);
        stored[k] |= is_cut ? (draw(3) == 0 ? 0xFF : draw(2) == 0 ? drawn : 0) : 0xFF;
    }
}

/** Programs bytes; behind the last one some bits of one more. */
static void program(const uint8_t* image, uint32_t from, uint32_t count, bool is_cut) {
    for (uint32_t k = from; k < from + count; ++k) {
        stored[k] &= image[k];
    }
    if (is_cut) {
        stored[from + count] &= (uint8_t)(image[from + count] | draw(256));
    }
}

/** Writes an image over another one until the power goes. */
static void write_flash(const uint8_t* image, bool erases_first, uint32_t left) {
    uint32_t erased = 0;
    for (uint32_t at = 0; at < stored_bytes; at += PROGRAM_BYTES) {
        while (erased < stored_bytes && (erases_first || erased <= at)) {
            const bool is_cut = left < ERASE_BYTES;
            erase(erased, is_cut);
            if (is_cut) {
                return;
            }
            left -= ERASE_BYTES;
            erased += SECTOR_BYTES;
        }
        const bool is_cut = left < PROGRAM_BYTES;
        program(image, at, is_cut ? left : PROGRAM_BYTES, is_cut);
        if (is_cut) {
            return;
        }
        left -= PROGRAM_BYTES;
    }
}

/** Writes blocks of a card; that in which the power goes has anything. */
static void write_card(const uint8_t* image, uint32_t left) {
    for (uint32_t at = 0; at < stored_bytes; at += BLOCK_BYTES) {
        if (left < BLOCK_BYTES) {
            const uint32_t kind = draw(3);
            for (uint32_t k = at; k < at + BLOCK_BYTES; ++k) {
                stored[k] = kind == 0 ? (uint8_t)draw(256) : k < at + left ? image[k] : stored[k];
            }
            return;
        }
        memcpy(stored + at, image + at, BLOCK_BYTES);
        left -= BLOCK_BYTES;
    }
}

static bool is_for_programs(uint32_t address, uint32_t bytes) {
    return address >= KIWICHA_DRAM_BASE && bytes <= KIWICHA_SOC_DRAM_BYTES &&
           address - KIWICHA_DRAM_BASE <= KIWICHA_SOC_DRAM_BYTES - bytes;
}

/** Whether memory holds what an image says. */
static bool is_loaded(const uint8_t* image, uint32_t start) {
    const struct kiwicha_flash_header* header = (const void*)image;
    const struct kiwicha_flash_record* records = (const void*)(image + sizeof *header);
    bool is_same = start == header->start_address;
    for (uint32_t k = 0; k < header->records; ++k) {
        const void* memory = (const void*)(uintptr_t)records[k].address;
        is_same = is_same && memcmp(memory, image + records[k].offset, records[k].bytes) == 0;
    }
    return is_same;
}

enum end { REFUSED, OLD, NEW };

/** Cuts a writing, and starts anew: nothing, the old image or the new one is there, whole. */
static enum end cut(const uint8_t* old, const uint8_t* new, bool is_card) {
    memcpy(stored, old, stored_bytes);
    const uint32_t sectors = stored_bytes / SECTOR_BYTES;
    const uint32_t all = stored_bytes + (is_card ? 0 : sectors * ERASE_BYTES);
    const uint32_t left = draw(all + all / 16);
    if (is_card) {
        write_card(new, left);
    } else {
        write_flash(new, draw(2) == 0, left);
    }
    memset((void*)(uintptr_t)KIWICHA_DRAM_BASE, 0xA5, KIWICHA_SOC_DRAM_BYTES);
    uint32_t start = 0;
    heard_bytes = 0;
    if (!kiwicha_flash_load(is_for_programs, &start)) {
        return REFUSED;
    }
    if (is_loaded(old, start)) {
        return OLD;
    }
    if (!is_loaded(new, start)) {
        stop(EXIT_BROKEN, "what is loaded must be whole, of one image");
    }
    return NEW;
}

static uint8_t* read_image(const char* name) {
    static uint32_t most = 1u << 16;
    uint8_t* image = malloc(most);
    FILE* file = fopen(name, "rb");
    if (image == NULL || file == NULL) {
        stop(EXIT_USAGE, "the image must be readable");
    }
    memset(image, 0xFF, most);
    const uint32_t bytes = (uint32_t)fread(image, 1, most, file);
    fclose(file);
    const uint32_t whole = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
    stored_bytes = whole > stored_bytes ? whole : stored_bytes;
    return image;
}

int main(int argc, char** argv) {
    const bool is_serial = argc == 4 && strcmp(argv[1], "serial") == 0;
    if (!is_serial && argc != 6) {
        stop(EXIT_USAGE, "usage: kiwicha_fuzz (serial | flash | card) FIRST LAST [OLD NEW]");
    }
    map_board();
    signal(SIGALRM, on_alarm);
    const uint32_t first = (uint32_t)strtoul(argv[2], NULL, 10);
    const uint32_t last = (uint32_t)strtoul(argv[3], NULL, 10);
    uint8_t* old = is_serial ? NULL : read_image(argv[4]);
    uint8_t* new = is_serial ? NULL : read_image(argv[5]);
    stored = is_serial ? NULL : malloc(stored_bytes);
    uint32_t ends[3] = {0};
    for (uint32_t number = first; number < last; ++number) {
        random_state = 0x9E3779B97F4A7C15u * (number + 1u);
        alarm(HANG_SECONDS);
        if (is_serial) {
            draw_line();
            heard_bytes = 0;
            talk();
        } else {
            ++ends[cut(old, new, strcmp(argv[1], "card") == 0)];
        }
    }
    alarm(0);
    ends[0] += is_serial ? jumps : 0;
    printf("%u %u %u %u\n", (unsigned)(last - first), (unsigned)ends[REFUSED], (unsigned)ends[OLD],
           (unsigned)ends[NEW]);
    free(stored);
    free(new);
    free(old);
    return 0;
}
