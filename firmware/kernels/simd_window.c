#include "simd_window.h"

#include <stdbool.h>

/** Bytes on their way into words. */
struct packer {
    kiwicha_word *target;
    uint32_t word;
    uint32_t bytes; /**< how many the word holds, 0 to 3; they are its upper ones */
};

KIWICHA_INLINE void put_byte(struct packer *packer, uint32_t byte)
{
    packer->word = kiwicha_cfu_pack(packer->word, byte);
    if (++packer->bytes == 4) {
        *packer->target++ = packer->word;
        packer->bytes = 0;
    }
}

static void put_bytes(struct packer *packer, const int8_t *source, uint32_t count)
{
    struct packer local = *packer;
    for (const int8_t *end = source + count; source != end; source++) {
        put_byte(&local, (uint8_t)*source);
    }
    *packer = local;
}

static void put_fill(struct packer *packer, uint32_t fill, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        put_byte(packer, fill);
    }
}

static kiwicha_word *put_words(kiwicha_word *target, const kiwicha_word *source, uint32_t count)
{
    for (const kiwicha_word *end = source + count; source != end; source++) {
        *target++ = *source;
    }
    return target;
}

static kiwicha_word *put_fill_words(kiwicha_word *target, uint32_t fill, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        *target++ = fill;
    }
    return target;
}

/** The current pixel's window: position of its first element, which may lie outside the input. */
struct origin {
    int32_t y;
    int32_t x;
};

static const int8_t *element(const struct kiwicha_simd_windows *source, int32_t y, int32_t x)
{
    const struct kiwicha_conv *p = source->conv;
    return source->input + ((uint32_t)y * p->input_width + (uint32_t)x) * p->input_channels;
}

static bool is_row_inside(const struct kiwicha_conv *p, int32_t y, int32_t x)
{
    const int32_t last = x + (int32_t)((p->kernel_width - 1) * p->dilation_width);
    return y >= 0 && y < (int32_t)p->input_height && x >= 0 && last < (int32_t)p->input_width;
}

static bool is_element_inside(const struct kiwicha_conv *p, int32_t y, int32_t x)
{
    return y >= 0 && y < (int32_t)p->input_height && x >= 0 && x < (int32_t)p->input_width;
}

/** Copies a window whose taps are multiples of a word. */
static void copy_words(const struct kiwicha_simd_windows *source, struct origin origin,
                       kiwicha_word *target)
{
    const struct kiwicha_conv *p = source->conv;
    const uint32_t tap_words = p->input_channels / 4;
    for (uint32_t tap_y = 0; tap_y < p->kernel_height; tap_y++) {
        const int32_t y = origin.y + (int32_t)(tap_y * p->dilation_height);
        for (uint32_t tap_x = 0; tap_x < p->kernel_width; tap_x++) {
            const int32_t x = origin.x + (int32_t)(tap_x * p->dilation_width);
            target = is_element_inside(p, y, x)
                         ? put_words(target, (const void *)element(source, y, x), tap_words)
                         : put_fill_words(target, source->fill, tap_words);
        }
    }
}

/** Copies a window byte by byte. */
static void copy_bytes(const struct kiwicha_simd_windows *source, struct origin origin,
                       kiwicha_word *target)
{
    const struct kiwicha_conv *p = source->conv;
    struct packer packer = {target, 0, 0};
    for (uint32_t tap_y = 0; tap_y < p->kernel_height; tap_y++) {
        const int32_t y = origin.y + (int32_t)(tap_y * p->dilation_height);
        if (p->dilation_width == 1 && is_row_inside(p, y, origin.x)) {
            put_bytes(&packer, element(source, y, origin.x), p->kernel_width * p->input_channels);
            continue;
        }
        for (uint32_t tap_x = 0; tap_x < p->kernel_width; tap_x++) {
            const int32_t x = origin.x + (int32_t)(tap_x * p->dilation_width);
            if (is_element_inside(p, y, x)) {
                put_bytes(&packer, element(source, y, x), p->input_channels);
            } else {
                put_fill(&packer, source->fill, p->input_channels);
            }
        }
    }
    while (packer.bytes != 0) {
        put_byte(&packer, 0); /* its weight is zero */
    }
}

struct kiwicha_simd_windows kiwicha_simd_windows_begin(const struct kiwicha_memory *memory,
                                                       const struct kiwicha_conv *conv)
{
    const uint32_t window = conv->kernel_height * conv->kernel_width * conv->input_channels;
    return (struct kiwicha_simd_windows){
        .conv = conv,
        .input = kiwicha_source(memory, &conv->input),
        .scratch = kiwicha_target(memory, &conv->scratch),
        .fill = (uint32_t)(uint8_t)-conv->input_offset * 0x01010101u,
        .window_words = (window + 3) / 4,
        .is_in_place = conv->input_channels % 4 == 0 && conv->dilation_width == 1,
    };
}

/** Finds one window, at `copy` if it has to be copied. */
static struct kiwicha_simd_window find(const struct kiwicha_simd_windows *source,
                                       kiwicha_word *copy)
{
    const struct kiwicha_conv *p = source->conv;
    const struct origin origin = {
        (int32_t)(source->out_y * p->stride_height) - (int32_t)p->pad_top,
        (int32_t)(source->out_x * p->stride_width) - (int32_t)p->pad_left,
    };
    const int32_t last_y = origin.y + (int32_t)((p->kernel_height - 1) * p->dilation_height);
    if (source->is_in_place && is_row_inside(p, origin.y, origin.x) &&
        last_y < (int32_t)p->input_height) {
        return (struct kiwicha_simd_window){
            (const void *)element(source, origin.y, origin.x),
            p->dilation_height * p->input_width * p->input_channels / 4,
        };
    }
    if (p->input_channels % 4 == 0) {
        copy_words(source, origin, copy);
    } else {
        copy_bytes(source, origin, copy);
    }
    return (struct kiwicha_simd_window){copy, p->kernel_width * p->input_channels / 4};
}

void kiwicha_simd_windows_next(struct kiwicha_simd_windows *source,
                               struct kiwicha_simd_window *windows, uint32_t count)
{
    const struct kiwicha_conv *p = source->conv;
    kiwicha_word *copy = source->scratch;
    for (uint32_t k = 0; k < count; k++) {
        windows[k] = find(source, copy);
        copy += source->window_words;
        if (++source->out_x == p->output_width) {
            source->out_x = 0;
            if (++source->out_y == p->output_height) {
                source->out_y = 0;
                source->input += p->input_height * p->input_width * p->input_channels;
            }
        }
    }
}
