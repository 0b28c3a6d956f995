#include <string.h>

#include "check.h"
#include "kernels.h"
#include "move.h"

#define LAST (KIWICHA_MAX_RANK - 1)

/** Bytes from the first piece to the end of the last one. */
KIWICHA_SMALL static uint32_t extent(const struct kiwicha_copy *p, const uint32_t *strides)
{
    uint32_t last = kiwicha_strided_extent(p->shape, strides) - 1;
    return last > UINT32_MAX - p->piece_bytes ? UINT32_MAX : last + p->piece_bytes;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_copy(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    const struct kiwicha_copy *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    uint32_t pieces = kiwicha_saturating_product(p->shape, KIWICHA_MAX_RANK);
    kiwicha_require(&check, pieces != 0 && p->piece_bytes != 0);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    uint32_t strides[KIWICHA_MAX_RANK];
    uint64_t before = 0;
    for (uint32_t k = 0; k < KIWICHA_MAX_RANK; k++) {
        strides[k] = (uint32_t)p->input_strides[k];
        if (p->input_strides[k] < 0) {
            strides[k] = 0u - strides[k];
            before += kiwicha_saturating_multiply(p->shape[k] - 1, strides[k]);
        }
    }
    kiwicha_require(&check, p->input_start == before);
    kiwicha_require_source(&check, &p->input, extent(p, strides), 1);
    kiwicha_require_target(&check, &p->output, extent(p, p->output_strides), 1);
    /* Runs without end would all write the same bytes. */
    kiwicha_require(&check, kiwicha_saturating_multiply(pieces, p->piece_bytes) <= p->output.bytes);
    return check.status;
}

/** Copies bytes that lie `stride` apart to bytes that lie together. */
KIWICHA_SMALL static void gather_bytes(uint8_t *to, const uint8_t *from, int32_t stride,
                                       uint32_t count)
{
    const uint8_t *end = to + count;
    while (to < end) {
        if (((uintptr_t)to & 3) != 0 || end - to < 4) {
            *to++ = *from;
            from += stride;
            continue;
        }
        /* A store takes as long for a byte as for a word. */
        *(kiwicha_word *)(void *)to = from[0] | (uint32_t)from[stride] << 8 |
                                      (uint32_t)from[2 * stride] << 16 |
                                      (uint32_t)from[3 * stride] << 24;
        to += 4;
        from += 4 * stride;
    }
}

/** Copies the pieces of the last dimension. */
KIWICHA_SMALL static void copy_line(const struct kiwicha_copy *p, uint8_t *to, const uint8_t *from)
{
    const uint32_t count = p->shape[LAST];
    const uint32_t to_stride = p->output_strides[LAST];
    const int32_t from_stride = p->input_strides[LAST];
    if (p->piece_bytes == 1 && to_stride == 1) {
        if (from_stride == 0) {
            memset(to, *from, count);
        } else {
            gather_bytes(to, from, from_stride, count);
        }
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        kiwicha_copy_apart(to + k * to_stride, from + (int32_t)k * from_stride, p->piece_bytes);
    }
}

/** Moves bytes down by a distance of 1 or more, in parts that do not overlap. */
KIWICHA_SMALL static void slide(uint8_t *to, uint32_t distance, uint32_t bytes)
{
    while (bytes > 0) {
        const uint32_t part = bytes < distance ? bytes : distance;
        memcpy(to, to + distance, part);
        to += part;
        bytes -= part;
    }
}

/** Strided copy of pieces of bytes; input and output must not overlap. One piece may: its output
 * before its input. */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_copy(const struct kiwicha_memory *memory,
                                                   const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_copy *p = params;
    const uint8_t *input = kiwicha_source(memory, &p->input);
    uint8_t *output = kiwicha_target(memory, &p->output);
    const uintptr_t distance = (uintptr_t)input - (uintptr_t)output;
    if (distance - 1 < p->piece_bytes && p->piece_bytes == p->output.bytes) {
        slide(output, (uint32_t)distance, p->piece_bytes);
        return KIWICHA_STATUS_OK;
    }
    uint32_t from = p->input_start;
    uint32_t to = 0;
    uint32_t position[LAST] = {0};
    uint32_t k;
    do {
        copy_line(p, output + to, input + from);
        /* The next line: counters with a carry. Unsigned numbers wrap, sums of strides do not. */
        for (k = LAST; k > 0; k--) {
            const uint32_t from_stride = (uint32_t)p->input_strides[k - 1];
            from += from_stride;
            to += p->output_strides[k - 1];
            if (++position[k - 1] < p->shape[k - 1]) {
                break;
            }
            from -= from_stride * p->shape[k - 1];
            to -= p->output_strides[k - 1] * p->shape[k - 1];
            position[k - 1] = 0;
        }
    } while (k > 0);
    return KIWICHA_STATUS_OK;
}
