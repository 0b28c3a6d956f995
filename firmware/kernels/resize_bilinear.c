#include "check.h"
#include "kernels.h"

#define FRACTIONS 20 /* bits of a product of two distances */
#define PLACES 52    /* bits behind the point of a sum of float32 numbers */
#define PRECISION 24 /* bits of a float32's significand */
#define EXPONENT 6   /* low bits of a weight that say how far its significand goes down */
#define SHARED KIWICHA_SMALL static __attribute__((noinline))

/** An output's place along one dimension: between two pixels, with their weights. */
struct place {
    uint32_t pixels[2];
    int32_t weights[2];
};

/** Requires pixels of the input; weights may be any, sums of their products wrap. */
KIWICHA_SMALL static void require_places(struct kiwicha_check *check,
                                         const struct kiwicha_ref *table, uint32_t outputs,
                                         uint32_t inputs)
{
    kiwicha_require_source(check, table, kiwicha_saturating_multiply(outputs, sizeof(struct place)),
                           sizeof(int32_t));
    kiwicha_require(check, (table->offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    if (check->status != KIWICHA_STATUS_OK) {
        return;
    }
    const struct place *places = kiwicha_source(check->memory, table);
    for (uint32_t k = 0; k < outputs; k++) {
        kiwicha_require(check, places[k].pixels[0] < inputs);
        kiwicha_require(check, places[k].pixels[1] < inputs);
    }
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_resize_bilinear(const struct kiwicha_memory *memory,
                                                                const void *params)
{
    const struct kiwicha_resize_bilinear *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t input[] = {p->batches, p->input_height, p->input_width, p->channels};
    const uint32_t output[] = {p->batches, p->output_height, p->output_width, p->channels};
    kiwicha_require_source(&check, &p->input, kiwicha_saturating_product(input, 4), 1);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_product(output, 4), 1);
    kiwicha_require(&check, (uint32_t)p->offset <= 128 &&
                                p->is_float <= KIWICHA_CONFIG_HAS_FLOAT_INTERPOLATION);
    require_places(&check, &p->rows, p->output_height, p->input_height);
    require_places(&check, &p->columns, p->output_width, p->input_width);
    return check.status;
}

#if KIWICHA_CONFIG_HAS_FLOAT_INTERPOLATION

/** Returns x, a signed number, rounded to the significant bits of a float32, half to even. */
SHARED uint64_t rounded(uint64_t x)
{
    const uint64_t magnitude = (int64_t)x < 0 ? -x : x;
    uint64_t half = 0;
    for (uint64_t next = UINT64_C(1) << PRECISION; next != 0 && next <= magnitude; next += next) {
        half += half + (half == 0);
    }
    const uint64_t unit = half + half;
    return half == 0 ? x : (x + half - ((x & unit) == 0)) & -unit;
}

/** Returns the weighted sum of four values in float32; half goes up. */
SHARED int32_t float_blend(const int32_t *values, const struct place *row,
                           const struct place *column)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < 4; k++) {
        const int32_t down = row->weights[k % 2];
        const int32_t across = column->weights[k / 2];
        const uint64_t product = rounded((uint64_t)((int64_t)values[k] * (down >> EXPONENT)));
        const uint64_t term = rounded(product * (uint64_t)(int64_t)(across >> EXPONENT));
        const int64_t shifted = (int64_t)(term << (PLACES - 2 * (PRECISION - 1)));
        const uint32_t exponent =
            (uint32_t)down % (1 << EXPONENT) + (uint32_t)across % (1 << EXPONENT);
        sum = rounded(sum + (uint64_t)(shifted >> exponent % 64));
    }
    return (int32_t)((int64_t)rounded(sum + (UINT64_C(1) << (PLACES - 1))) >> PLACES);
}

#endif

/** Returns the weighted sum of four values / 2**20; half goes up above 0, down elsewhere. */
KIWICHA_SMALL static int32_t blend(const int32_t *values, const struct place *row,
                                   const struct place *column)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 4; k++) {
        sum +=
            (uint32_t)values[k] * (uint32_t)row->weights[k % 2] * (uint32_t)column->weights[k / 2];
    }
    const int32_t half = INT32_C(1) << (FRACTIONS - 1);
    return ((int32_t)sum + ((int32_t)sum > 0 ? half : -half)) / (INT32_C(1) << FRACTIONS);
}

/** RESIZE_BILINEAR; half a step goes away from zero. */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_resize_bilinear(const struct kiwicha_memory *memory,
                                                              const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_resize_bilinear *p = params;
    const int8_t *input = kiwicha_source(memory, &p->input);
    const struct place *rows = kiwicha_source(memory, &p->rows);
    const struct place *columns = kiwicha_source(memory, &p->columns);
    int8_t *output = kiwicha_target(memory, &p->output);
    const uint32_t row_bytes = p->input_width * p->channels;
    const int32_t offset = p->offset;
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t y = 0; y < p->output_height; y++) {
            const int8_t *upper = input + rows[y].pixels[0] * row_bytes;
            const int8_t *lower = input + rows[y].pixels[1] * row_bytes;
            for (uint32_t x = 0; x < p->output_width; x++) {
                const uint32_t left = columns[x].pixels[0] * p->channels;
                const uint32_t right = columns[x].pixels[1] * p->channels;
                for (uint32_t c = 0; c < p->channels; c++) {
                    const int32_t values[4] = {upper[left + c] + offset, lower[left + c] + offset,
                                               upper[right + c] + offset,
                                               lower[right + c] + offset};
#if KIWICHA_CONFIG_HAS_FLOAT_INTERPOLATION
                    if (p->is_float) {
                        *output++ = (int8_t)(float_blend(values, &rows[y], &columns[x]) - offset);
                        continue;
                    }
#endif
                    *output++ = (int8_t)(blend(values, &rows[y], &columns[x]) - offset);
                }
            }
        }
        input += p->input_height * row_bytes;
    }
    return KIWICHA_STATUS_OK;
}
