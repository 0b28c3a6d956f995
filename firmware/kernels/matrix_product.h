/** What kernels of products of computed matrices have in common. */
#ifndef KIWICHA_MATRIX_PRODUCT_H
#define KIWICHA_MATRIX_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"

/** Number of dimensions of the batches. */
#define KIWICHA_BATCH_DIMENSIONS 3

/**
 * Requires consistent sizes, references and scales.
 *
 * @param is_simd working memory for a packed matrix, and whole words
 */
void kiwicha_require_matrix_product(struct kiwicha_check *check,
                                    const struct kiwicha_matrix_product *p, bool is_simd);

/** Returns how many batches there are. */
static inline uint32_t kiwicha_batches(const struct kiwicha_matrix_product *p)
{
    return p->batches[0] * p->batches[1] * p->batches[2];
}

/** Returns the number of the matrix that a batch reads. */
static inline uint32_t kiwicha_matrix_of(const struct kiwicha_matrix_product *p,
                                         const uint32_t *steps, uint32_t batch)
{
    const uint32_t last = batch % p->batches[2], others = batch / p->batches[2];
    return others / p->batches[1] * steps[0] + others % p->batches[1] * steps[1] + last * steps[2];
}

#endif
