/** Places between the pixels of an image, and the rows around them. */
#ifndef KIWICHA_BILINEAR_H
#define KIWICHA_BILINEAR_H

#include <stdint.h>

/* How values are weighted: `kiwicha.kernels.resize_bilinear.Blend`. */
#define FIXED 0
#define FLOAT 1
#define PACKED 2

/** An output's place along one dimension: between two pixels, with their weights. */
struct place {
    uint32_t pixels[2];
    int32_t weights[2];
};

/** The two rows that an output row lies between, and how they are weighted. */
struct rows {
    const int8_t *upper;
    const int8_t *lower;
    const struct place *place;
};

#endif
