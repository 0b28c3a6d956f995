#include "check.h"
#include "kernels.h"

#define ONE 1024     /* distance of neighbouring pixels */
#define FRACTIONS 20 /* bits of a product of two distances */

/** An output's place along one dimension. */
struct place {
    int32_t first;
    int32_t second;
    int32_t distance; /**< from the first, -ONE to ONE */
};

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
        kiwicha_require(check, (uint32_t)places[k].first < inputs);
        kiwicha_require(check, (uint32_t)places[k].second < inputs);
        kiwicha_require_range(check, places[k].distance, -ONE, ONE);
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
    require_places(&check, &p->rows, p->output_height, p->input_height);
    require_places(&check, &p->columns, p->output_width, p->input_width);
    return check.status;
}

/** Returns x / 2**20 rounded to nearest; half goes up above 0, down elsewhere. */
KIWICHA_SMALL static int32_t rounded(int32_t x)
{
    const int32_t half = INT32_C(1) << (FRACTIONS - 1);
    return (x + (x > 0 ? half : -half)) / (INT32_C(1) << FRACTIONS);
}

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
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        for (uint32_t y = 0; y < p->output_height; y++) {
            const int8_t *upper = input + (uint32_t)rows[y].first * row_bytes;
            const int8_t *lower = input + (uint32_t)rows[y].second * row_bytes;
            const int32_t down = rows[y].distance;
            for (uint32_t x = 0; x < p->output_width; x++) {
                const uint32_t left = (uint32_t)columns[x].first * p->channels;
                const uint32_t right = (uint32_t)columns[x].second * p->channels;
                const int32_t across = columns[x].distance;
                for (uint32_t c = 0; c < p->channels; c++) {
                    const int32_t above =
                        upper[left + c] * (ONE - across) + upper[right + c] * across;
                    const int32_t below =
                        lower[left + c] * (ONE - across) + lower[right + c] * across;
                    *output++ = (int8_t)rounded(above * (ONE - down) + below * down);
                }
            }
        }
        input += p->input_height * row_bytes;
    }
    return KIWICHA_STATUS_OK;
}
