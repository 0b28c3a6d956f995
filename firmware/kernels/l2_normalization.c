#include "check.h"
#include "kernels.h"
#include "requantize.h"

#define INLINED static inline __attribute__((always_inline))

#define MAX_DEPTH 32767 /* squares of bytes add up to less than 2**31 */
#define SCALE_BITS 7    /* the output's scale is 1/128 */
#define STEPS 5         /* of Newton and Raphson */
#define HALF_THREE ((INT32_C(1) << 28) + (INT32_C(1) << 27)) /* 1.5 in Q3.28 */
#define HALF_ROOT_2 1518500250                               /* sqrt(2) / 2 in Q0.31 */
#define ONES UINT32_C(0x01010101)
#define SIGNS UINT32_C(0x80808080)

KIWICHA_SMALL enum kiwicha_status
kiwicha_check_l2_normalization(const struct kiwicha_memory *memory, const void *params)
{
    const struct kiwicha_l2_normalization *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t bytes = kiwicha_saturating_multiply(p->rows, p->depth);
    kiwicha_require(&check, p->depth <= MAX_DEPTH);
    kiwicha_require(&check, p->early_bits == 0 || p->early_bits == SCALE_BITS);
    kiwicha_require_range(&check, p->input_offset, -127, 128);
    kiwicha_require_source(&check, &p->input, bytes, 1);
    kiwicha_require_target(&check, &p->output, bytes, 1);
    return check.status;
}

/**
 * Returns a * b / 2**31, rounded half up: kiwicha_high_multiply in one multiplication.
 *
 * @param a less than 2**29
 */
INLINED int32_t product(int32_t a, int32_t b)
{
    return ((int32_t)(((int64_t)(a * 4) * b) >> 32) + 1) >> 1;
}

/** A number as multiplier * 2**(shift - 31). */
struct scale {
    int32_t multiplier;
    int32_t shift;
};

/** Returns 1 / sqrt(x); 0 counts as 1. */
static struct scale inverse_square_root(int32_t x)
{
    if (x <= 1) {
        return (struct scale){INT32_MAX, 0};
    }
    int32_t right = 11;
    while (x >= INT32_C(1) << 29) {
        x /= 4;
        right++;
    }
    const int32_t pairs = (__builtin_clz((uint32_t)x) - 1) / 2 - 1;
    right -= pairs;
    x *= INT32_C(1) << (2 * pairs);
    /* From 1, in Q3.28; roots are 0.5 to 1.42, so that nothing overflows. */
    const int32_t half = kiwicha_rounding_divide_by_pot(x >> 1, 1);
    int32_t root = INT32_C(1) << 28;
    for (uint32_t step = 0; step < STEPS; step++) {
        const int32_t cube = product(root, product(root, root)) * (INT32_C(1) << 6);
        root = (product(root, HALF_THREE) - product(half, cube)) * (INT32_C(1) << 3);
    }
    const int32_t multiplier = product(root, HALF_ROOT_2);
    return right < 0 ? (struct scale){multiplier * (INT32_C(1) << -right), 0}
                     : (struct scale){multiplier, -right};
}

/** How the numbers of a row become outputs; both roundings of kiwicha_rescale are one sum. */
struct scaling {
    int32_t offset;     /**< minus the zero point */
    uint32_t left;      /**< bits, before the product */
    int32_t multiplier; /**< of which the product's upper word is left */
    int32_t rounding;
    uint32_t right; /**< bits, at last */
};

/**
 * Returns how a row is scaled.
 *
 * The upper word of 4 * number * multiplier has one bit behind the point that is rounded first,
 * half up. A shift to the right rounds after that, half away from zero. Of a floor only the last
 * one matters, so halves of both are added before it: and 2 taken away if the number is negative.
 */
KIWICHA_SMALL static struct scaling scaling_of(struct scale scale, int32_t input_offset,
                                               uint32_t early_bits)
{
    const int32_t shift = scale.shift + SCALE_BITS - (int32_t)early_bits;
    const uint32_t right = shift < 0 ? (uint32_t)-shift : 0;
    const uint32_t left = 2 + early_bits + (shift > 0 ? (uint32_t)shift : 0);
    return (struct scaling){input_offset, left, scale.multiplier,
                            right > 0 ? (INT32_C(1) << right) + 1 : 1, right + 1};
}

/** Returns an output that is -128 to 128: a number is at most as long as its row. */
INLINED int32_t scaled(const struct scaling *scaling, bool is_shifted, int32_t byte)
{
    const int32_t number = (byte + scaling->offset) * (INT32_C(1) << scaling->left);
    const int32_t high = (int32_t)(((int64_t)number * scaling->multiplier) >> 32);
    const int32_t down = is_shifted ? (high >> 31) * 2 : 0;
    return (high + scaling->rounding + down) >> scaling->right;
}

/** Returns an output of at most 127, as a byte. */
INLINED uint32_t limited(int32_t output)
{
    return (uint32_t)(output > INT8_MAX ? INT8_MAX : output) & UINT8_MAX;
}

/**
 * Scales a row: four outputs at a time, because a store takes as long for a word.
 *
 * They are limited where a byte is that of -128, or of 128, which is too large.
 */
INLINED void scale_row(const struct scaling scaling, bool is_shifted, const int8_t *restrict input,
                       uint8_t *restrict output, uint32_t depth)
{
    uint8_t *end = output + depth;
    while (output < end && ((uintptr_t)output & 3) != 0) {
        *output++ = (uint8_t)limited(scaled(&scaling, is_shifted, *input++));
    }
    for (; end - output >= 4; output += 4, input += 4) {
        const int32_t a = scaled(&scaling, is_shifted, input[0]);
        const int32_t b = scaled(&scaling, is_shifted, input[1]);
        const int32_t c = scaled(&scaling, is_shifted, input[2]);
        const int32_t d = scaled(&scaling, is_shifted, input[3]);
        uint32_t word = ((uint32_t)a & UINT8_MAX) | ((uint32_t)b & UINT8_MAX) << 8 |
                        ((uint32_t)c & UINT8_MAX) << 16 | (uint32_t)d << 24;
        const uint32_t others = word ^ SIGNS;
        if (__builtin_expect(((others - ONES) & ~others & SIGNS) != 0, 0)) {
            word = limited(a) | limited(b) << 8 | limited(c) << 16 | limited(d) << 24;
        }
        *(kiwicha_word *)(void *)output = word;
    }
    while (output < end) {
        *output++ = (uint8_t)limited(scaled(&scaling, is_shifted, *input++));
    }
}

/* Two functions, so that registers hold what each of them needs. */
static __attribute__((noinline)) void
scale_row_up(const struct scaling *scaling, const int8_t *input, uint8_t *output, uint32_t depth)
{
    scale_row(*scaling, false, input, output, depth);
}

static __attribute__((noinline)) void
scale_row_down(const struct scaling *scaling, const int8_t *input, uint8_t *output, uint32_t depth)
{
    scale_row(*scaling, true, input, output, depth);
}

/** Returns the sum of the squares of a row. */
static __attribute__((noinline)) int32_t sum_of_squares(const int8_t *input, uint32_t depth,
                                                        int32_t offset)
{
    int32_t sum = 0;
    const int8_t *end = input + depth;
    for (; end - input >= 4; input += 4) {
        const int32_t a = input[0], b = input[1], c = input[2], d = input[3];
        const int32_t e = a + offset, f = b + offset, g = c + offset, h = d + offset;
        const int32_t i = e * e, j = f * f, k = g * g, l = h * h;
        sum += i + j + (k + l);
    }
    for (; input < end; input++) {
        sum += (*input + offset) * (*input + offset);
    }
    return sum;
}

/** L2_NORMALIZATION over the last dimension. */
enum kiwicha_status kiwicha_run_l2_normalization(const struct kiwicha_memory *memory,
                                                 const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_l2_normalization *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    uint8_t *output = kiwicha_target(memory, &p->output);
    const uint32_t depth = p->depth;
    for (uint32_t row = 0; row < p->rows; row++) {
        const struct scale scale =
            inverse_square_root(sum_of_squares(input, depth, p->input_offset));
        const struct scaling scaling = scaling_of(scale, p->input_offset, p->early_bits);
        if (scaling.right > 1) {
            scale_row_down(&scaling, input, output, depth);
        } else {
            scale_row_up(&scaling, input, output, depth);
        }
        input += depth;
        output += depth;
    }
    return KIWICHA_STATUS_OK;
}
