#include "memory.h"

#define WORD_BYTES 4u
#define WORD_BITS 32u
/* Of a polynomial whose period is 2^32 - 1. */
#define SHIFT_LEFT 13
#define SHIFT_RIGHT 17
#define SHIFT_LAST 5
#define SEED 0x2545f491u

static void compare(volatile struct kiwicha_self_test *test, uint32_t place, uint32_t expected,
                    uint32_t got)
{
    if (expected == got) {
        return;
    }
    if (test->wrong == 0) {
        test->address = place;
        test->expected = expected;
        test->got = got;
    }
    test->wrong = test->wrong + 1;
    test->bits = test->bits | (expected ^ got);
}

/* Each bit alone in each word of a line of the memory; words beside it hold the opposite, so that a
 * line that keeps its last value is found, too. */
static void check_data_lines(volatile struct kiwicha_self_test *test)
{
    const uint32_t end = test->first + KIWICHA_ALIGNMENT_BYTES;
    for (uint32_t bit = 0; bit < WORD_BITS; ++bit) {
        for (uint32_t at = test->first; at < end; at += WORD_BYTES) {
            for (uint32_t other = test->first; other < end; other += WORD_BYTES) {
                kiwicha_memory_store(other,
                                     other == at ? UINT32_C(1) << bit : ~(UINT32_C(1) << bit));
            }
            kiwicha_memory_settle();
            for (uint32_t other = test->first; other < end; other += WORD_BYTES) {
                compare(test, other, other == at ? UINT32_C(1) << bit : ~(UINT32_C(1) << bit),
                        kiwicha_memory_load(other));
            }
        }
    }
}

/* A line that is stuck, or is joined to another, makes two of these words one. The bit is noted,
 * because the address of the word says less. */
static void check_address_lines(volatile struct kiwicha_self_test *test)
{
    const uint32_t base = KIWICHA_SELF_TEST_PROBE_ADDRESS;
    const uint32_t bytes = test->bytes;
    for (uint32_t bit = 2; bit < WORD_BITS && UINT32_C(1) << bit < bytes; ++bit) {
        const uint32_t other = base ^ UINT32_C(1) << bit;
        /* The words themselves first: what they hold must not be by chance what is expected. */
        for (uint32_t each = 2; each < WORD_BITS && UINT32_C(1) << each < bytes; ++each) {
            kiwicha_memory_store(base ^ UINT32_C(1) << each, ~each);
        }
        kiwicha_memory_store(base, base);
        kiwicha_memory_store(other, bit);
        kiwicha_memory_settle();
        compare(test, bit, base, kiwicha_memory_load(base));
        compare(test, bit, bit, kiwicha_memory_load(other));
        for (uint32_t each = 2; each < WORD_BITS && UINT32_C(1) << each < bytes; ++each) {
            if (each != bit) {
                compare(test, each, ~each, kiwicha_memory_load(base ^ UINT32_C(1) << each));
            }
        }
    }
}

static uint32_t next_value(uint32_t check, uint32_t value, uint32_t address)
{
    if (check == KIWICHA_SELF_TEST_CHECK_ADDRESSES) {
        return address;
    }
    value ^= value << SHIFT_LEFT;
    value ^= value >> SHIFT_RIGHT;
    return value ^ value << SHIFT_LAST;
}

/* All of the range is written before any of it is read. */
static void check_range(volatile struct kiwicha_self_test *test, uint32_t inverted)
{
    const uint32_t first = test->first;
    const uint32_t bytes = test->bytes;
    const uint32_t check = test->check;
    uint32_t value = SEED;
    for (uint32_t at = 0; at < bytes; at += WORD_BYTES) {
        value = next_value(check, value, first + at);
        kiwicha_memory_store(first + at, value ^ inverted);
    }
    kiwicha_memory_settle();
    value = SEED;
    for (uint32_t at = 0; at < bytes; at += WORD_BYTES) {
        value = next_value(check, value, first + at);
        compare(test, first + at, value ^ inverted, kiwicha_memory_load(first + at));
    }
}

void kiwicha_check_memory(volatile struct kiwicha_self_test *test)
{
    if (test->check == KIWICHA_SELF_TEST_CHECK_DATA_LINES) {
        check_data_lines(test);
    } else if (test->check == KIWICHA_SELF_TEST_CHECK_ADDRESS_LINES) {
        check_address_lines(test);
    } else {
        check_range(test, 0);
        check_range(test, UINT32_MAX);
    }
}
