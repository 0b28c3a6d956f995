/** Elements of a tensor along some of its dimensions. */
#ifndef KIWICHA_AXES_H
#define KIWICHA_AXES_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "kiwicha_isa.h"

/** Some dimensions of the input, the outermost first; one more can lie inside them, as a line. */
struct axes {
    uint32_t line;
    uint32_t line_stride;
    uint32_t count;
    uint32_t shape[KIWICHA_MAX_RANK];
    uint32_t strides[KIWICHA_MAX_RANK];
    uint32_t position[KIWICHA_MAX_RANK];
};

KIWICHA_SMALL static struct axes select_axes(const struct kiwicha_mean *p, uint8_t is_reduced)
{
    struct axes axes = {0};
    uint32_t stride = 1;
    for (uint32_t k = 0; k < KIWICHA_MAX_RANK; k++) {
        axes.count += p->is_reduced[k] == is_reduced ? 1 : 0;
    }
    uint32_t axis = axes.count;
    for (uint32_t k = KIWICHA_MAX_RANK; k > 0; k--) {
        if (p->is_reduced[k - 1] == is_reduced) {
            axis--;
            axes.shape[axis] = p->shape[k - 1];
            axes.strides[axis] = stride;
        }
        stride *= p->shape[k - 1];
    }
    return axes;
}

/** Takes the last dimension of more than one element out, as the line. */
KIWICHA_SMALL static struct axes with_a_line(struct axes axes)
{
    axes.line = 1;
    while (axes.count > 0 && axes.line == 1) {
        axes.count--;
        axes.line = axes.shape[axes.count];
        axes.line_stride = axes.strides[axes.count];
    }
    return axes;
}

/** Steps to the next element; returns false, back at the first, after the last one. */
KIWICHA_FALLBACK static __attribute__((noinline)) bool step(struct axes *axes,
                                                            const int8_t **element)
{
    for (uint32_t k = axes->count; k > 0; k--) {
        *element += axes->strides[k - 1];
        if (++axes->position[k - 1] < axes->shape[k - 1]) {
            return true;
        }
        *element -= axes->strides[k - 1] * axes->shape[k - 1];
        axes->position[k - 1] = 0;
    }
    return false;
}

#endif
