#include "line.h"

#include <string.h>

#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "machine.h"

/* A power of two: positions count on for ever. */
#define KEPT_BYTES KIWICHA_SERIAL_WINDOW_BYTES
_Static_assert((KEPT_BYTES & (KEPT_BYTES - 1)) == 0, "positions wrap around");

/* Bytes between two looks at the line: they take less than the 16 that the UART keeps. */
#define UNWATCHED_BYTES 256u

static uint8_t kept[KEPT_BYTES];
static uint32_t written;
static uint32_t taken;

void kiwicha_line_poll(void)
{
    uint8_t byte;
    while (written - taken < KEPT_BYTES && kiwicha_platform_receive(&byte)) {
        kept[written++ % KEPT_BYTES] = byte;
    }
}

uint8_t kiwicha_line_receive(void)
{
    while (written == taken) {
        kiwicha_line_poll();
    }
    return kept[taken++ % KEPT_BYTES];
}

bool kiwicha_line_is_silent(uint32_t cycles)
{
    uint32_t start = kiwicha_platform_cycles();
    while (written == taken) {
        if (kiwicha_platform_cycles() - start > cycles) {
            return true;
        }
        kiwicha_line_poll();
    }
    return false;
}

bool kiwicha_line_receive_within(uint8_t *byte, uint32_t cycles)
{
    if (kiwicha_line_is_silent(cycles)) {
        return false;
    }
    *byte = kept[taken++ % KEPT_BYTES];
    return true;
}

void kiwicha_line_send(uint8_t byte)
{
    const volatile uint32_t *is_full = (const volatile uint32_t *)KIWICHA_CSR_UART_TXFULL;
    while (*is_full != 0) {
        kiwicha_line_poll();
    }
    kiwicha_platform_send(byte);
}

void kiwicha_line_copy(void *to, const void *from, uint32_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    while (bytes > 0) {
        uint32_t piece = bytes < UNWATCHED_BYTES ? bytes : UNWATCHED_BYTES;
        kiwicha_line_poll();
        memcpy(target, source, piece);
        target += piece;
        source += piece;
        bytes -= piece;
    }
}
