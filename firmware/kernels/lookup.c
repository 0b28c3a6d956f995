#include "lookup.h"
#include "check.h"
#include "kernels.h"

#define ENTRIES 256
#define THRESHOLDS 255

KIWICHA_SMALL enum kiwicha_status kiwicha_check_lookup(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    const struct kiwicha_lookup *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t entry_bytes = p->table.bytes == ENTRIES ? 1 : sizeof(kiwicha_word);
    kiwicha_require_source(&check, &p->input, p->input.bytes, 1);
    kiwicha_require_target(&check, &p->output,
                           kiwicha_saturating_multiply(p->input.bytes, entry_bytes), entry_bytes);
    kiwicha_require_source(&check, &p->table, ENTRIES * entry_bytes, entry_bytes);
    kiwicha_require(&check, (p->table.offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    return check.status;
}

/* Four at a time where both sides are aligned: a store takes as long for a word. */
void kiwicha_look_up_bytes(const uint8_t *input, const uint8_t *table, uint8_t *output,
                           uint32_t count)
{
    uint32_t done = 0;
    if ((((uintptr_t)input | (uintptr_t)output) & 3) == 0) {
        for (; done + 4 <= count; done += 4) {
            const uint32_t word = *(const kiwicha_word *)(const void *)(input + done);
            *(kiwicha_word *)(void *)(output + done) =
                table[word & 0xff] | (uint32_t)table[word >> 8 & 0xff] << 8 |
                (uint32_t)table[word >> 16 & 0xff] << 16 | (uint32_t)table[word >> 24] << 24;
        }
    }
    for (; done < count; done++) {
        output[done] = table[input[done]];
    }
}

/** Every byte of a tensor through a table of 256 bytes, in place if need be, or of 256 words. */
KIWICHA_FALLBACK enum kiwicha_status kiwicha_run_lookup(const struct kiwicha_memory *memory,
                                                        const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_lookup *p = params;
    const uint8_t *input = kiwicha_source(memory, &p->input);
    const void *table = kiwicha_source(memory, &p->table);
    void *output = kiwicha_target(memory, &p->output);
    if (p->table.bytes == ENTRIES) {
        kiwicha_look_up_bytes(input, table, output, p->input.bytes);
    } else {
        for (uint32_t k = 0; k < p->input.bytes; k++) {
            ((kiwicha_word *)output)[k] = ((const kiwicha_word *)table)[input[k]];
        }
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_quantize(const struct kiwicha_memory *memory,
                                                         const void *params)
{
    const struct kiwicha_quantize *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    kiwicha_require_source(&check, &p->input,
                           kiwicha_saturating_multiply(p->output.bytes, sizeof(int32_t)),
                           sizeof(int32_t));
    kiwicha_require_target(&check, &p->output, p->output.bytes, 1);
    kiwicha_require_source(&check, &p->thresholds, THRESHOLDS * sizeof(int32_t), sizeof(int32_t));
    return check.status;
}

/** QUANTIZE of float32, by comparing; a NaN counts as an infinity of its sign. */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_quantize(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_quantize *p = params;
    const kiwicha_word *input = kiwicha_source(memory, &p->input);
    const int32_t *thresholds = kiwicha_source(memory, &p->thresholds);
    int8_t *output = kiwicha_target(memory, &p->output);
    for (uint32_t k = 0; k < p->output.bytes; k++) {
        const int32_t bits = (int32_t)input[k];
        /* Of two negative numbers the one with larger bits is smaller: turn those around. */
        const int32_t ordered = bits ^ ((bits >> 31) & INT32_MAX);
        uint32_t count = 0;
        for (uint32_t step = (THRESHOLDS + 1) / 2; step > 0; step /= 2) {
            if (thresholds[count + step - 1] <= ordered) {
                count += step;
            }
        }
        output[k] = (int8_t)((int32_t)count + INT8_MIN);
    }
    return KIWICHA_STATUS_OK;
}
