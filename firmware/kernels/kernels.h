/**
 * Portable kernels: TensorFlow Lite's int8 reference arithmetic in plain C.
 *
 * Every kernel has a check and a run function. `kiwicha_check_*` returns
 * - KIWICHA_STATUS_OK: the run function stays inside the tensors that the parameters name,
 * - KIWICHA_STATUS_BAD_PARAMETERS: sizes contradict each other or a value is out of its range,
 * - KIWICHA_STATUS_BAD_BOUNDS: a tensor or table is outside its memory or misaligned.
 * `kiwicha_run_*` may be called with parameters that passed the check; it returns
 * KIWICHA_STATUS_OK, or KIWICHA_STATUS_BAD_ARGUMENT if a pointer is null.
 *
 * @param memory where tensors and constants are
 * @param params the structure that `KERNEL_PARAMS` of `kiwicha.contract.cfu` lists for the kernel,
 * 4-byte aligned; dtypes, layouts and ranges stand with its fields
 *
 * Tensors are int8 NHWC, row-major. Outputs must not overlap inputs, but for element-wise kernels
 * without broadcast.
 */
#ifndef KIWICHA_KERNELS_H
#define KIWICHA_KERNELS_H

#include "kiwicha_isa.h"
#include "memory.h"

#define KIWICHA_DECLARE_CHECK(name)                                                                \
    enum kiwicha_status kiwicha_check_##name(const struct kiwicha_memory *memory,                  \
                                             const void *params)
#define KIWICHA_DECLARE_RUN(name)                                                                  \
    enum kiwicha_status kiwicha_run_##name(const struct kiwicha_memory *memory, const void *params)

/** CONV_2D; weights int8 OHWI. Taps outside the input count as its zero point. */
KIWICHA_DECLARE_CHECK(conv);
KIWICHA_DECLARE_RUN(conv);

/**
 * TRANSPOSE_CONV; weights int8 OHWI, dilation 1. Input pixel y adds to output pixels
 * y * stride_height - pad_top and the following ones, x alike.
 */
KIWICHA_DECLARE_RUN(transpose_conv);

/** DEPTHWISE_CONV_2D; weights int8 [1, H, W, C]; output channel c reads c / depth_multiplier. */
KIWICHA_DECLARE_CHECK(depthwise_conv);
KIWICHA_DECLARE_RUN(depthwise_conv);

/** FULLY_CONNECTED; weights int8 [output_channels, input_channels]. */
KIWICHA_DECLARE_CHECK(fully_connected);
KIWICHA_DECLARE_RUN(fully_connected);

/** AVERAGE_POOL_2D: mean of the elements inside the input, half away from zero, then clamp. */
KIWICHA_DECLARE_CHECK(pool);
KIWICHA_DECLARE_RUN(average_pool);

/** MAX_POOL_2D: maximum of the elements inside the input, then clamp. */
KIWICHA_DECLARE_RUN(max_pool);

/** ADD, SUB, MUL, MINIMUM, MAXIMUM and PRELU with broadcast. */
KIWICHA_DECLARE_CHECK(elementwise);
KIWICHA_DECLARE_RUN(add);
KIWICHA_DECLARE_RUN(sub);
KIWICHA_DECLARE_RUN(mul);
KIWICHA_DECLARE_RUN(minimum);
KIWICHA_DECLARE_RUN(maximum);
KIWICHA_DECLARE_RUN(prelu);

/** MEAN and SUM over any axes, where the sum is int32 and wraps; REDUCE_MAX. */
KIWICHA_DECLARE_CHECK(mean);
KIWICHA_DECLARE_RUN(mean);
KIWICHA_DECLARE_RUN(reduce_max);

/** Strided copy of runs of bytes; input and output must not overlap. */
KIWICHA_DECLARE_CHECK(copy);
KIWICHA_DECLARE_RUN(copy);

/** SOFTMAX; depth is at most 4095, so that the sum of exponentials fits Q12.19. */
KIWICHA_DECLARE_CHECK(softmax);
KIWICHA_DECLARE_RUN(softmax);

/** Operators of installed packages; see custom.h. */
KIWICHA_DECLARE_CHECK(custom);
KIWICHA_DECLARE_RUN(custom);

/** Every byte of a tensor through a table of 256 bytes, in place if need be, or of 256 words. */
KIWICHA_DECLARE_CHECK(lookup);
KIWICHA_DECLARE_RUN(lookup);

/** QUANTIZE of float32, by comparing; a NaN counts as an infinity of its sign. */
KIWICHA_DECLARE_CHECK(quantize);
KIWICHA_DECLARE_RUN(quantize);

/** RESIZE_BILINEAR; half a step goes away from zero. */
KIWICHA_DECLARE_CHECK(resize_bilinear);
KIWICHA_DECLARE_RUN(resize_bilinear);

/** ARG_MAX: of equal values the first. */
KIWICHA_DECLARE_CHECK(arg_max);
KIWICHA_DECLARE_RUN(arg_max);

#endif
