#include <string.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"
#include "move.h"

/** Requires indices of `count` places, and dimensions that have no more than 2**32 - 1 pieces. */
KIWICHA_SMALL static void require_indices(struct kiwicha_check *check,
                                          const struct kiwicha_ref *indices, uint32_t count,
                                          uint32_t depth, const uint32_t *sizes, uint32_t words)
{
    kiwicha_require(check, depth >= 1 && depth <= KIWICHA_MAX_RANK);
    kiwicha_require(check, words == 1 || words == 2);
    /* Other numbers of words must not make an alignment of 0. */
    const uint32_t bytes = words == 2 ? (uint32_t)sizeof(int64_t) : (uint32_t)sizeof(int32_t);
    kiwicha_require_source(
        check, indices,
        kiwicha_saturating_multiply(kiwicha_saturating_multiply(count, depth), bytes), bytes);
    /* Dimensions behind those that are indexed would be part of a piece. */
    for (uint32_t k = depth; k < KIWICHA_MAX_RANK; k++) {
        kiwicha_require(check, sizes[k] == 1);
    }
}

/** Finds the number of the piece at a place; returns false if there is none. */
static bool find_piece(const void *indices, uint32_t place, uint32_t depth, const uint32_t *sizes,
                       uint32_t words, uint32_t *piece)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < depth; k++) {
        const int64_t index = kiwicha_read_integer(indices, place * depth + k, 4 * words);
        if (index < 0 || index >= sizes[k]) {
            return false;
        }
        found = found * sizes[k] + (uint32_t)index;
    }
    *piece = found;
    return true;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_gather(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    const struct kiwicha_gather *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t blocks[] = {p->batches, p->outer, p->piece_bytes};
    const uint32_t block_bytes = kiwicha_saturating_product(blocks, 3);
    const uint32_t pieces = kiwicha_saturating_product(p->sizes, KIWICHA_MAX_RANK);
    require_indices(&check, &p->indices, kiwicha_saturating_multiply(p->batches, p->count),
                    p->depth, p->sizes, p->index_words);
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(block_bytes, pieces), 1);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_multiply(block_bytes, p->count),
                           1);
    return check.status;
}

/** GATHER: pieces at places that another tensor names. */
enum kiwicha_status kiwicha_run_gather(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_gather *p = params;
    const uint8_t *input = kiwicha_source(memory, &p->input);
    const void *indices = kiwicha_source(memory, &p->indices);
    uint8_t *output = kiwicha_target(memory, &p->output);
    const uint32_t block_bytes =
        kiwicha_saturating_product(p->sizes, KIWICHA_MAX_RANK) * p->piece_bytes;
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t outer = 0; outer < p->outer; outer++) {
            for (uint32_t k = 0; k < p->count; k++) {
                uint32_t piece;
                if (!find_piece(indices, batch * p->count + k, p->depth, p->sizes, p->index_words,
                                &piece)) {
                    return KIWICHA_STATUS_BAD_VALUE;
                }
                kiwicha_move(output, input + piece * p->piece_bytes, p->piece_bytes);
                output += p->piece_bytes;
            }
            input += block_bytes;
        }
    }
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_scatter(const struct kiwicha_memory *memory,
                                                        const void *params)
{
    const struct kiwicha_scatter *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = kiwicha_integer_bytes(p->dtype);
    const uint32_t pieces = kiwicha_saturating_product(p->sizes, KIWICHA_MAX_RANK);
    const uint32_t piece_bytes = kiwicha_saturating_multiply(p->piece, bytes);
    kiwicha_require(&check, bytes != 0);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    kiwicha_require(&check, p->zero == 0 || (bytes == 1 && p->zero == INT8_MIN));
    require_indices(&check, &p->indices, p->count, p->depth, p->sizes, p->index_words);
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(piece_bytes, p->count),
                           bytes);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_multiply(piece_bytes, pieces),
                           bytes);
    return check.status;
}

/** Adds an element to another one; booleans hold if one of both does. */
static void add_element(const struct kiwicha_scatter *p, void *output, uint32_t to,
                        const void *input, uint32_t from, uint32_t bytes)
{
    const int64_t added =
        kiwicha_wrapping_difference(kiwicha_read_integer(input, from, bytes), p->zero);
    int64_t sum = kiwicha_wrapping_sum(kiwicha_read_integer(output, to, bytes), added);
    if (p->dtype == KIWICHA_DTYPE_BOOL) {
        sum = sum != 0;
    }
    kiwicha_write_integer(output, to, bytes, sum);
}

/** SCATTER_ND: adds up pieces at places that another tensor names. */
enum kiwicha_status kiwicha_run_scatter(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_scatter *p = params;
    const void *input = kiwicha_source(memory, &p->input);
    const void *indices = kiwicha_source(memory, &p->indices);
    void *output = kiwicha_target(memory, &p->output);
    const uint32_t bytes = kiwicha_integer_bytes(p->dtype);
    memset(output, p->zero, p->output.bytes);
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t piece;
        if (!find_piece(indices, k, p->depth, p->sizes, p->index_words, &piece)) {
            return KIWICHA_STATUS_BAD_VALUE;
        }
        for (uint32_t element = 0; element < p->piece; element++) {
            add_element(p, output, piece * p->piece + element, input, k * p->piece + element,
                        bytes);
        }
    }
    return KIWICHA_STATUS_OK;
}
