#include "simd_window.h"

#include <stdbool.h>

#include "check.h"

/** Bytes on their way into words. */
struct packer {
    kiwicha_word *target; /**< where the next full word goes */
    uint32_t last;        /**< the last four bytes, the newest on top */
    uint32_t count;       /**< how many of them are not yet written, 0 to 3 */
};

/** Returns bytes n to n + 3 of eight, n = 0 to 3. */
KIWICHA_INLINE uint32_t funnel(uint32_t low, uint32_t high, uint32_t n)
{
    return low >> (8 * n) | high << 1 << (31 - 8 * n);
}

/** Appends four bytes. */
KIWICHA_INLINE void append_four(struct packer *packer, uint32_t word)
{
    const uint32_t count = packer->count;
    *packer->target++ = count == 0 ? word : funnel(packer->last, word, 4 - count);
    packer->last = word;
}

/** Appends the low `count` bytes of a word, 1 to 3. */
KIWICHA_INLINE void append_some(struct packer *packer, uint32_t word, uint32_t count)
{
    const uint32_t total = packer->count + count;
    if (total >= 4) {
        *packer->target++ =
            packer->count == 0 ? word : funnel(packer->last, word, 4 - packer->count);
    }
    packer->last = funnel(packer->last, word, count);
    packer->count = total % 4;
}

/** Appends rows of bytes from anywhere, reading no word that holds none of them. */
KIWICHA_INLINE void put_rows(struct packer *packer, const int8_t *source, uint32_t pitch,
                             uint32_t rows, uint32_t row_bytes)
{
    struct packer local = *packer;
    for (; rows > 0; rows--) {
        const uint32_t offset = (uintptr_t)source % 4;
        const kiwicha_word *next = (const void *)(source - offset);
        uint32_t word = *next++;
        uint32_t bytes = row_bytes;
        for (; bytes >= 4; bytes -= 4) {
            uint32_t four = word;
            if (bytes + offset > 4) {
                word = *next++;
                four = funnel(four, word, offset);
            }
            append_four(&local, four);
        }
        if (bytes > 0) {
            uint32_t some = word >> (8 * offset);
            if (bytes + offset > 4) {
                some |= *next << 1 << (31 - 8 * offset);
            }
            append_some(&local, some, bytes);
        }
        source += pitch;
    }
    *packer = local;
}

KIWICHA_SMALL __attribute__((noinline)) static void put_fill(struct packer *packer, uint32_t fill,
                                                             uint32_t bytes)
{
    for (; bytes >= 4; bytes -= 4) {
        append_four(packer, fill);
    }
    if (bytes > 0) {
        append_some(packer, fill, bytes);
    }
}

static void put_words(struct packer *packer, const int8_t *source, uint32_t bytes)
{
    const kiwicha_word *word = (const void *)source;
    for (const kiwicha_word *end = word + bytes / 4; word != end; word++) {
        *packer->target++ = *word;
    }
}

/** Fills up the last word of a window with zero points, which add nothing to a sum. */
KIWICHA_INLINE kiwicha_word *finish(struct packer *packer, uint32_t fill)
{
    if (packer->count > 0) {
        append_some(packer, fill, 4 - packer->count);
    }
    return packer->target;
}

/**
 * Copies windows of one output row, all of them inside the input and without dilation_width.
 *
 * @param first first element of the first window
 * @return the word after the last window
 */
static kiwicha_word *copy_windows(const struct kiwicha_simd_windows *source, const int8_t *first,
                                  uint32_t count, kiwicha_word *target)
{
    const struct kiwicha_conv *p = source->conv;
    const uint32_t distance = p->stride_width * p->input_channels;
    const uint32_t pitch = source->pitch * p->dilation_height;
    const uint32_t rows = p->kernel_height;
    const uint32_t row_bytes = p->kernel_width * p->input_channels;
    for (; count > 0; count--) {
        struct packer packer = {target, 0, 0};
        put_rows(&packer, first, pitch, rows, row_bytes);
        target = finish(&packer, source->fill);
        first += distance;
    }
    return target;
}

/** Copies one tap of a window. */
KIWICHA_SMALL __attribute__((noinline)) static void
copy_tap(const struct kiwicha_simd_windows *source, struct packer *packer, int32_t y, int32_t x)
{
    const struct kiwicha_conv *p = source->conv;
    const uint32_t bytes = p->input_channels;
    const bool is_inside =
        y >= 0 && y < (int32_t)p->input_height && x >= 0 && x < (int32_t)p->input_width;
    if (!is_inside) {
        put_fill(packer, source->fill, bytes);
        return;
    }
    const int8_t *element = source->input + (uint32_t)y * source->pitch + (uint32_t)x * bytes;
    if (bytes % 4 == 0) {
        put_words(packer, element, bytes);
        return;
    }
    for (uint32_t k = 0; k < bytes; k++) {
        append_some(packer, (uint8_t)element[k], 1);
    }
}

/** Copies the current window, parts of which may be outside the input. */
KIWICHA_SMALL __attribute__((noinline)) static kiwicha_word *
copy_window(const struct kiwicha_simd_windows *source, kiwicha_word *target)
{
    const struct kiwicha_conv *p = source->conv;
    struct packer packer = {target, 0, 0};
    int32_t y = source->y;
    for (uint32_t tap_y = 0; tap_y < p->kernel_height; tap_y++) {
        int32_t x = source->x;
        for (uint32_t tap_x = 0; tap_x < p->kernel_width; tap_x++) {
            copy_tap(source, &packer, y, x);
            x += (int32_t)p->dilation_width;
        }
        y += (int32_t)p->dilation_height;
    }
    return finish(&packer, source->fill);
}

/** Returns how many windows from the current one on are inside the input, in this output row. */
static uint32_t count_inside(const struct kiwicha_simd_windows *source)
{
    const struct kiwicha_conv *p = source->conv;
    const int32_t room_x = (int32_t)p->input_width - 1 - source->span_x - source->x;
    if (source->y < 0 || source->x < 0 || room_x < 0 ||
        source->y + source->span_y >= (int32_t)p->input_height) {
        return 0;
    }
    const uint32_t fitting = (uint32_t)room_x / p->stride_width + 1;
    const uint32_t rest = p->output_width - source->out_x;
    return fitting < rest ? fitting : rest;
}

/** Goes `count` output pixels on, all of them in the current row. */
static void advance(struct kiwicha_simd_windows *source, uint32_t count)
{
    const struct kiwicha_conv *p = source->conv;
    source->x += (int32_t)(count * p->stride_width);
    source->out_x += count;
    if (source->out_x < p->output_width) {
        return;
    }
    source->out_x = 0;
    source->x = -(int32_t)p->pad_left;
    source->y += (int32_t)p->stride_height;
    if (++source->out_y < p->output_height) {
        return;
    }
    source->out_y = 0;
    source->y = -(int32_t)p->pad_top;
    source->input += p->input_height * source->pitch;
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
        .pitch = conv->input_width * conv->input_channels,
        .span_y = (int32_t)((conv->kernel_height - 1) * conv->dilation_height),
        .span_x = (int32_t)((conv->kernel_width - 1) * conv->dilation_width),
        .y = -(int32_t)conv->pad_top,
        .x = -(int32_t)conv->pad_left,
    };
}

void kiwicha_simd_windows_next(struct kiwicha_simd_windows *source,
                               struct kiwicha_simd_window *windows, uint32_t count)
{
    const struct kiwicha_conv *p = source->conv;
    const uint32_t distance = p->stride_width * p->input_channels;
    const uint32_t copied_row_words = p->kernel_width * p->input_channels / 4;
    kiwicha_word *copy = source->scratch;
    while (count > 0) {
        const uint32_t inside = count_inside(source);
        const uint32_t now = inside == 0 ? 1 : inside < count ? inside : count;
        const int8_t *first = source->input;
        if (inside > 0) {
            first += (uint32_t)source->y * source->pitch + (uint32_t)source->x * p->input_channels;
        }
        const bool is_in_place = inside > 0 && source->is_in_place;
        const kiwicha_word *window = is_in_place ? (const void *)first : copy;
        const uint32_t window_words = is_in_place ? distance / 4 : source->window_words;
        const uint32_t row_words =
            is_in_place ? p->dilation_height * source->pitch / 4 : copied_row_words;
        if (!is_in_place) {
            copy = inside > 0 && p->dilation_width == 1 ? copy_windows(source, first, now, copy)
                                                        : copy_window(source, copy);
        }
        const uint32_t taken = is_in_place || p->dilation_width == 1 ? now : 1;
        for (uint32_t k = 0; k < taken; k++) {
            *windows++ = (struct kiwicha_simd_window){window, row_words};
            window += window_words;
        }
        advance(source, taken);
        count -= taken;
    }
}
