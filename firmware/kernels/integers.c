#include <string.h>

#include "check.h"
#include "elements.h"
#include "kernels.h"

#define LAST (KIWICHA_MAX_RANK - 1)
#define TABLE_BYTES 1024 /* 256 words */
#define FIRST_COMPARISON KIWICHA_INTEGER_OPERATION_EQUAL

/** Requires what strides reach of a tensor. */
KIWICHA_SMALL static void require_strided(struct kiwicha_check *check,
                                          const struct kiwicha_ref *ref, const uint32_t *shape,
                                          const uint32_t *strides, uint32_t bytes)
{
    const uint32_t extent = kiwicha_strided_extent(shape, strides);
    kiwicha_require_source(check, ref, kiwicha_saturating_multiply(extent, bytes), bytes);
}

KIWICHA_SMALL static void require_table(struct kiwicha_check *check, const struct kiwicha_ref *ref,
                                        bool is_there)
{
    if (is_there) {
        kiwicha_require_source(check, ref, TABLE_BYTES, sizeof(int32_t));
    } else {
        kiwicha_require(check, ref->bytes == 0);
    }
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_integers(const struct kiwicha_memory *memory,
                                                         const void *params)
{
    const struct kiwicha_integers *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t elements = kiwicha_saturating_product(p->shape, KIWICHA_MAX_RANK);
    const uint32_t bytes = kiwicha_integer_bytes(p->dtype);
    const bool is_comparison = p->operation >= FIRST_COMPARISON;
    const bool has_tables = p->table_1.bytes != 0;
    kiwicha_require(&check, elements != 0 && bytes != 0);
    kiwicha_require(&check, p->operation <= KIWICHA_INTEGER_OPERATION_LESS_EQUAL);
    kiwicha_require(&check, !has_tables || (bytes == 1 && is_comparison));
    /* Divisions are of 32 bits. */
    kiwicha_require(&check, p->operation < KIWICHA_INTEGER_OPERATION_DIV ||
                                p->operation > KIWICHA_INTEGER_OPERATION_FLOOR_MOD || bytes <= 4);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    require_strided(&check, &p->input_1, p->shape, p->strides_1, bytes);
    require_strided(&check, &p->input_2, p->shape, p->strides_2, bytes);
    require_table(&check, &p->table_1, has_tables);
    require_table(&check, &p->table_2, has_tables);
    const uint32_t output_bytes = is_comparison ? 1 : bytes;
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_multiply(elements, output_bytes),
                           output_bytes);
    return check.status;
}

/** Returns a / b, rounded towards 0, and what is left; b is not 0. */
KIWICHA_SMALL static int64_t quotient(int32_t a, int32_t b, int32_t *rest)
{
    if (b == -1) {
        *rest = 0;
        return -(int64_t)a; /* may need 33 bits */
    }
    *rest = a % b;
    return a / b;
}

KIWICHA_SMALL static int64_t divide(uint32_t operation, int32_t a, int32_t b)
{
    int32_t rest;
    const int64_t result = quotient(a, b, &rest);
    const bool is_above = rest != 0 && (rest < 0) != (b < 0);
    switch (operation) {
    case KIWICHA_INTEGER_OPERATION_FLOOR_DIV:
        return result - is_above;
    case KIWICHA_INTEGER_OPERATION_FLOOR_MOD:
        return is_above ? rest + b : rest;
    default:
        return result;
    }
}

KIWICHA_SMALL static int64_t combine(uint32_t operation, int64_t a, int64_t b)
{
    switch (operation) {
    case KIWICHA_INTEGER_OPERATION_ADD:
        return kiwicha_wrapping_sum(a, b);
    case KIWICHA_INTEGER_OPERATION_SUB:
        return kiwicha_wrapping_difference(a, b);
    case KIWICHA_INTEGER_OPERATION_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case KIWICHA_INTEGER_OPERATION_MINIMUM:
        return a < b ? a : b;
    case KIWICHA_INTEGER_OPERATION_MAXIMUM:
        return a > b ? a : b;
    case KIWICHA_INTEGER_OPERATION_EQUAL:
        return a == b;
    case KIWICHA_INTEGER_OPERATION_NOT_EQUAL:
        return a != b;
    case KIWICHA_INTEGER_OPERATION_LESS:
        return a < b;
    case KIWICHA_INTEGER_OPERATION_LESS_EQUAL:
        return a <= b;
    default:
        return divide(operation, (int32_t)a, (int32_t)b);
    }
}

/** Steps the position to the next row; returns false after the last one. */
KIWICHA_SMALL static bool next_row(const uint32_t *shape, uint32_t position[LAST])
{
    for (uint32_t k = LAST; k > 0; k--) {
        if (++position[k - 1] < shape[k - 1]) {
            return true;
        }
        position[k - 1] = 0;
    }
    return false;
}

KIWICHA_SMALL static uint32_t row_start(const uint32_t *strides, const uint32_t *position)
{
    uint32_t start = 0;
    for (uint32_t k = 0; k < LAST; k++) {
        start += strides[k] * position[k];
    }
    return start;
}

KIWICHA_SMALL static int64_t operand(const void *input, const int32_t *table, uint32_t index,
                                     uint32_t bytes)
{
    return table != NULL ? table[((const uint8_t *)input)[index]]
                         : kiwicha_read_integer(input, index, bytes);
}

/** Arithmetic and comparisons of integers. */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_integers(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_integers *p = params;
    const void *input_1 = kiwicha_source(memory, &p->input_1);
    const void *input_2 = kiwicha_source(memory, &p->input_2);
    const bool has_tables = p->table_1.bytes != 0;
    const int32_t *table_1 = has_tables ? kiwicha_source(memory, &p->table_1) : NULL;
    const int32_t *table_2 = has_tables ? kiwicha_source(memory, &p->table_2) : NULL;
    void *output = kiwicha_target(memory, &p->output);
    const uint32_t operation = p->operation, bytes = kiwicha_integer_bytes(p->dtype);
    const uint32_t output_bytes = operation >= FIRST_COMPARISON ? 1 : bytes;
    const bool divides = operation >= KIWICHA_INTEGER_OPERATION_DIV &&
                         operation <= KIWICHA_INTEGER_OPERATION_FLOOR_MOD;
    const uint32_t stride_1 = p->strides_1[LAST], stride_2 = p->strides_2[LAST];
    uint32_t position[LAST] = {0};
    uint32_t index = 0;
    do {
        uint32_t index_1 = row_start(p->strides_1, position);
        uint32_t index_2 = row_start(p->strides_2, position);
        for (uint32_t k = 0; k < p->shape[LAST]; k++) {
            const int64_t a = operand(input_1, table_1, index_1, bytes);
            const int64_t b = operand(input_2, table_2, index_2, bytes);
            if (divides && b == 0) {
                return KIWICHA_STATUS_BAD_VALUE;
            }
            kiwicha_write_integer(output, index++, output_bytes, combine(operation, a, b));
            index_1 += stride_1;
            index_2 += stride_2;
        }
    } while (next_row(p->shape, position));
    return KIWICHA_STATUS_OK;
}

KIWICHA_SMALL enum kiwicha_status kiwicha_check_select(const struct kiwicha_memory *memory,
                                                       const void *params)
{
    const struct kiwicha_select *p = params;
    struct kiwicha_check check = {memory, KIWICHA_STATUS_OK};
    const uint32_t elements = kiwicha_saturating_product(p->shape, KIWICHA_MAX_RANK);
    const uint32_t bytes = p->element_bytes;
    kiwicha_require(&check, elements != 0);
    kiwicha_require(&check, bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
    if (check.status != KIWICHA_STATUS_OK) {
        return check.status;
    }
    require_strided(&check, &p->condition, p->shape, p->strides, 1);
    require_strided(&check, &p->input_1, p->shape, p->strides_1, bytes);
    require_strided(&check, &p->input_2, p->shape, p->strides_2, bytes);
    kiwicha_require_target(&check, &p->output, kiwicha_saturating_multiply(elements, bytes), bytes);
    return check.status;
}

/** SELECT: elements of one tensor where a condition holds, else of another. */
KIWICHA_SMALL enum kiwicha_status kiwicha_run_select(const struct kiwicha_memory *memory,
                                                     const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_select *p = params;
    const uint8_t *condition = kiwicha_source(memory, &p->condition);
    const void *input_1 = kiwicha_source(memory, &p->input_1);
    const void *input_2 = kiwicha_source(memory, &p->input_2);
    void *output = kiwicha_target(memory, &p->output);
    const uint32_t bytes = p->element_bytes;
    uint32_t position[LAST] = {0};
    uint32_t index = 0;
    do {
        const uint8_t *row = condition + row_start(p->strides, position);
        const uint32_t first_1 = row_start(p->strides_1, position);
        const uint32_t first_2 = row_start(p->strides_2, position);
        for (uint32_t k = 0; k < p->shape[LAST]; k++) {
            const bool holds = row[k * p->strides[LAST]] != 0;
            const void *input = holds ? input_1 : input_2;
            const uint32_t from =
                holds ? first_1 + k * p->strides_1[LAST] : first_2 + k * p->strides_2[LAST];
            kiwicha_write_integer(output, index++, bytes, kiwicha_read_integer(input, from, bytes));
        }
    } while (next_row(p->shape, position));
    return KIWICHA_STATUS_OK;
}
