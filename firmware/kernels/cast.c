#include "check.h"
#include "elements.h"
#include "kernels.h"

#define UINT8_SHIFT 128

KIWICHA_SMALL static uint32_t bytes_of(uint32_t dtype)
{
    return dtype == KIWICHA_DTYPE_FLOAT32 ? (uint32_t)sizeof(float) : kiwicha_integer_bytes(dtype);
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_cast(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    const struct kiwicha_cast *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t input_bytes = bytes_of(p->input_dtype), output_bytes = bytes_of(p->output_dtype);
    kiwicha_require(&check, input_bytes != 0 && output_bytes != 0);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_multiply(p->count, input_bytes),
                           input_bytes);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_multiply(p->count, output_bytes),
                           output_bytes);
    return check.status;
}

/** Returns the integer that a float has before the point, between two limits; 0 if it is none. */
static int64_t whole_number(float x, int64_t minimum, int64_t maximum)
{
    if (x != x) {
        return 0;
    }
    /* 2**63 is a float; the largest int64, and int32, are not, and the comparison rounds up. */
    return x >= (float)maximum ? maximum : x <= (float)minimum ? minimum : (int64_t)x;
}

/** Returns a float as the integer type of so many bytes, or as uint8. */
static int64_t from_float(float x, uint32_t dtype, uint32_t bytes)
{
    if (dtype == KIWICHA_DTYPE_BOOL) {
        return x != 0;
    }
    if (dtype == KIWICHA_DTYPE_UINT8 || dtype == KIWICHA_DTYPE_UINT32) {
        return whole_number(x, 0, bytes == 1 ? UINT8_MAX : UINT32_MAX);
    }
    const int64_t maximum = INT64_MAX >> (64 - 8 * bytes);
    return whole_number(x, -maximum - 1, maximum);
}

/** Makes bits of an element the number that they stand for: unsigned ones were read as signed. */
KIWICHA_SPECIALIZED int64_t number(int64_t value, uint32_t dtype)
{
    return dtype == KIWICHA_DTYPE_UINT8    ? value + UINT8_SHIFT
           : dtype == KIWICHA_DTYPE_UINT32 ? (int64_t)(uint32_t)value
                                           : value;
}

/** Returns what is stored for a number. */
KIWICHA_SPECIALIZED int64_t stored(int64_t value, uint32_t dtype)
{
    return dtype == KIWICHA_DTYPE_UINT8  ? value - UINT8_SHIFT
           : dtype == KIWICHA_DTYPE_BOOL ? value != 0
                                         : value;
}

/** From integers to integers; sizes are constants. */
KIWICHA_SPECIALIZED void cast_integers(const struct kiwicha_cast *p, const void *input,
                                       void *output, uint32_t input_bytes, uint32_t output_bytes)
{
    const uint32_t from = p->input_dtype, to = p->output_dtype;
#pragma GCC unroll 1
    for (uint32_t k = 0; k < p->count; k++) {
        const int64_t value = kiwicha_read_integer(input, k, input_bytes);
        kiwicha_write_integer(output, k, output_bytes, stored(number(value, from), to));
    }
}

/** From integers to integers, where those that are read have so many bytes. */
KIWICHA_SPECIALIZED void cast_from(const struct kiwicha_cast *p, const void *input, void *output,
                                   uint32_t input_bytes)
{
    switch (bytes_of(p->output_dtype)) {
    case 1:
        cast_integers(p, input, output, input_bytes, 1);
        break;
    case 4:
        cast_integers(p, input, output, input_bytes, 4);
        break;
    default:
        cast_integers(p, input, output, input_bytes, bytes_of(p->output_dtype));
    }
}

/** From or to float32, or both. */
static void cast_floats(const struct kiwicha_cast *p, const void *input, void *output)
{
    const uint32_t from = p->input_dtype, to = p->output_dtype;
    const uint32_t input_bytes = bytes_of(from), output_bytes = bytes_of(to);
    for (uint32_t k = 0; k < p->count; k++) {
        if (from != KIWICHA_DTYPE_FLOAT32) {
            const int64_t value = kiwicha_read_integer(input, k, input_bytes);
            ((float *)output)[k] = (float)number(value, from);
        } else if (to == KIWICHA_DTYPE_FLOAT32) {
            ((float *)output)[k] = ((const float *)input)[k];
        } else {
            const int64_t value = from_float(((const float *)input)[k], to, output_bytes);
            kiwicha_write_integer(output, k, output_bytes, stored(value, to));
        }
    }
}

/** CAST: numbers as another type. */
enum kiwicha_status kiwicha_run_cast(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_cast *p = params;
    const void *input = kiwicha_source(memory, &p->input);
    void *output = kiwicha_target(memory, &p->output);
    if (p->input_dtype == KIWICHA_DTYPE_FLOAT32 || p->output_dtype == KIWICHA_DTYPE_FLOAT32) {
        cast_floats(p, input, output);
        return KIWICHA_STATUS_OK;
    }
    switch (bytes_of(p->input_dtype)) {
    case 1:
        cast_from(p, input, output, 1);
        break;
    case 4:
        cast_from(p, input, output, 4);
        break;
    default:
        cast_from(p, input, output, bytes_of(p->input_dtype));
    }
    return KIWICHA_STATUS_OK;
}
