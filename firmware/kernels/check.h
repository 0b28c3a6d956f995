/**
 * Checks of a step's parameters, before its kernel may run.
 *
 * A check is a row of `kiwicha_require*` calls on one `kiwicha_check`; the first that fails decides
 * its status. None of them reads what an earlier one has not found to be inside its bounds.
 */
#ifndef KIWICHA_CHECK_H
#define KIWICHA_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "kiwicha_isa.h"
#include "memory.h"

/**
 * Largest height, width, kernel, stride, dilation and padding: a position, the sum of two
 * products of them, fits an int32.
 */
#define KIWICHA_MAX_EXTENT 32767u

/** Marks code that runs once per Program: on-chip memory counts, time does not. */
#if defined(__clang__)
#define KIWICHA_SMALL __attribute__((minsize))
#else
#define KIWICHA_SMALL
#endif

/** Marks kernels that are seldom used where the instruction tier has their counterpart. */
#if KIWICHA_CONFIG_HAS_SIMD
#define KIWICHA_FALLBACK KIWICHA_SMALL
#else
#define KIWICHA_FALLBACK
#endif

/** Result of the checks so far. */
struct kiwicha_check {
    const struct kiwicha_memory *memory;
    enum kiwicha_status status;
};

/** Returns a * b, or UINT32_MAX where the product needs more than 32 bits. */
uint32_t kiwicha_saturating_multiply(uint32_t a, uint32_t b);

/** Returns the product of `count` sizes, or UINT32_MAX where it needs more than 32 bits. */
uint32_t kiwicha_saturating_product(const uint32_t *sizes, uint32_t count);

/**
 * Returns the number of elements up to the last one that strides reach; at most UINT32_MAX.
 *
 * @param shape KIWICHA_MAX_RANK sizes, none of them 0
 * @param strides in elements
 */
uint32_t kiwicha_strided_extent(const uint32_t *shape, const uint32_t *strides);

/** Sets BAD_PARAMETERS unless the condition holds. */
void kiwicha_require(struct kiwicha_check *check, bool condition);

/** Sets BAD_PARAMETERS unless minimum <= value <= maximum. */
void kiwicha_require_range(struct kiwicha_check *check, int32_t value, int32_t minimum,
                           int32_t maximum);

/** Sets BAD_PARAMETERS unless each of `count` values is 1 to KIWICHA_MAX_EXTENT. */
void kiwicha_require_extents(struct kiwicha_check *check, const uint32_t *values, uint32_t count);

/**
 * Requires something that a kernel reads.
 *
 * Sets BAD_PARAMETERS unless it has exactly `bytes` bytes, 1 or more, and BAD_BOUNDS unless it lies
 * inside the constants or the arena at a multiple of `alignment`.
 */
void kiwicha_require_source(struct kiwicha_check *check, const struct kiwicha_ref *ref,
                            uint32_t bytes, uint32_t alignment);

/** Requires something that a kernel writes: as `kiwicha_require_source`, and in the arena. */
void kiwicha_require_target(struct kiwicha_check *check, const struct kiwicha_ref *ref,
                            uint32_t bytes, uint32_t alignment);

/** Requires working memory of at least `bytes` bytes, word-aligned. */
void kiwicha_require_scratch(struct kiwicha_check *check, const struct kiwicha_ref *ref,
                             uint32_t bytes);

/** Requires one multiplier, 0 to 2**31 - 1, and one shift, -31 to 30. */
void kiwicha_require_scale(struct kiwicha_check *check, int32_t multiplier, int32_t shift);

/** Requires an output's zero point and clamp to be int8, the clamp's minimum first. */
void kiwicha_require_output(struct kiwicha_check *check, int32_t offset, int32_t activation_min,
                            int32_t activation_max);

/** Kinds of layers that share `struct kiwicha_conv`. */
enum kiwicha_conv_kind {
    KIWICHA_CONV_FULL,            /**< every output reads every input channel */
    KIWICHA_CONV_DEPTHWISE,       /**< every output reads one input channel */
    KIWICHA_CONV_FULLY_CONNECTED, /**< all sizes but batches and channels are 1 */
};

/**
 * Requires consistent shapes, references and scales of a convolution.
 *
 * @param is_simd the instruction tier's order of weights, tables padded to a multiple of four
 *     channels, and tensors that start at multiples of 4
 */
void kiwicha_require_conv(struct kiwicha_check *check, const struct kiwicha_conv *conv,
                          enum kiwicha_conv_kind kind, bool is_simd);

/**
 * Requires consistent shapes and references of a pooling layer.
 *
 * @param alignment of input and output
 */
void kiwicha_require_pool(struct kiwicha_check *check, const struct kiwicha_pool *pool,
                          uint32_t alignment);

/**
 * Requires consistent shapes, strides and references of an element-wise layer.
 *
 * @param alignment of inputs and output
 */
void kiwicha_require_elementwise(struct kiwicha_check *check,
                                 const struct kiwicha_elementwise *elementwise, uint32_t alignment);

#endif
