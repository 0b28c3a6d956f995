/** Windows of pools. */
#ifndef KIWICHA_POOL_WINDOW_H
#define KIWICHA_POOL_WINDOW_H

#include <stdint.h>

#include "kiwicha_isa.h"

/** The elements of one window that lie inside the input: y_begin <= y < y_end, x alike. */
struct window {
    uint32_t y_begin;
    uint32_t y_end;
    uint32_t x_begin;
    uint32_t x_end;
};

static void clip(int32_t origin, uint32_t kernel, uint32_t size, uint32_t *begin, uint32_t *end)
{
    int32_t last = origin + (int32_t)kernel;
    *begin = origin < 0 ? 0 : (uint32_t)origin;
    *end = last < (int32_t)size ? (uint32_t)last : size;
}

static struct window window_at(const struct kiwicha_pool *p, uint32_t out_y, uint32_t out_x)
{
    struct window window;
    clip((int32_t)(out_y * p->stride_height) - (int32_t)p->pad_top, p->kernel_height,
         p->input_height, &window.y_begin, &window.y_end);
    clip((int32_t)(out_x * p->stride_width) - (int32_t)p->pad_left, p->kernel_width, p->input_width,
         &window.x_begin, &window.x_end);
    return window;
}

#endif
