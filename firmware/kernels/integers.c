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
    const bool chooses = p->operation == KIWICHA_INTEGER_OPERATION_MINIMUM ||
                         p->operation == KIWICHA_INTEGER_OPERATION_MAXIMUM;
    kiwicha_require(&check, elements != 0 && (bytes == 1 || bytes == 4 || bytes == 8 ||
                                              (bytes == 2 && chooses)));
    kiwicha_require(&check, p->operation <= KIWICHA_INTEGER_OPERATION_LESS_EQUAL);
    kiwicha_require(&check, !has_tables || (bytes == 1 && is_comparison));
    kiwicha_require(&check, p->operation < KIWICHA_INTEGER_OPERATION_DIV ||
                                p->operation > KIWICHA_INTEGER_OPERATION_FLOOR_MOD || bytes == 4);
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

/** Returns what 32-bit division makes of a and b, which is not 0, as `kiwicha_integer_operation`.
 */
KIWICHA_SPECIALIZED int64_t divide(uint32_t operation, int32_t a, int32_t b)
{
    if (b == -1) {
        /* The quotient may need 33 bits. */
        return operation == KIWICHA_INTEGER_OPERATION_FLOOR_MOD ? 0 : -(int64_t)a;
    }
    const int32_t result = a / b, rest = a % b;
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

KIWICHA_SPECIALIZED int64_t combine(uint32_t operation, int64_t a, int64_t b)
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
static bool next_row(const uint32_t *shape, uint32_t position[LAST])
{
    for (uint32_t k = LAST; k > 0; k--) {
        if (++position[k - 1] < shape[k - 1]) {
            return true;
        }
        position[k - 1] = 0;
    }
    return false;
}

static uint32_t row_start(const uint32_t *strides, const uint32_t *position)
{
    uint32_t start = 0;
    for (uint32_t k = 0; k < LAST; k++) {
        start += strides[k] * position[k];
    }
    return start;
}

/** Rows of both inputs and of the output. */
struct rows {
    const void *input_1, *input_2;
    const int32_t *table_1, *table_2; /**< NULL where bytes are numbers */
    void *output;
    uint32_t stride_1, stride_2, count;
};

KIWICHA_SPECIALIZED int64_t operand(const void *input, const int32_t *table, uint32_t index,
                                    uint32_t bytes)
{
    return bytes == 1 && table != NULL ? table[((const uint8_t *)input)[index]]
                                       : kiwicha_read_integer(input, index, bytes);
}

/** Computes a row; returns false if it would have to divide by 0. Both numbers are constants. */
KIWICHA_SPECIALIZED bool run_row(const struct rows *rows, uint32_t operation, uint32_t bytes)
{
    const uint32_t output_bytes = operation >= FIRST_COMPARISON ? 1 : bytes;
    const bool divides = operation >= KIWICHA_INTEGER_OPERATION_DIV &&
                         operation <= KIWICHA_INTEGER_OPERATION_FLOOR_MOD;
    uint32_t index_1 = 0, index_2 = 0;
#pragma GCC unroll 1
    for (uint32_t k = 0; k < rows->count; k++) {
        const int64_t a = operand(rows->input_1, rows->table_1, index_1, bytes);
        const int64_t b = operand(rows->input_2, rows->table_2, index_2, bytes);
        if (divides && b == 0) {
            return false;
        }
        kiwicha_write_integer(rows->output, k, output_bytes, combine(operation, a, b));
        index_1 += rows->stride_1;
        index_2 += rows->stride_2;
    }
    return true;
}

#define CASE(name)                                                                                 \
    case KIWICHA_INTEGER_OPERATION_##name:                                                         \
        return run_row(rows, KIWICHA_INTEGER_OPERATION_##name, bytes);

/** The same with a loop for each operation: of elements of 8 bytes there are no divisions. */
KIWICHA_SPECIALIZED bool run_any_row(const struct rows *rows, uint32_t operation, uint32_t bytes)
{
    switch (operation) {
        CASE(MINIMUM)
        CASE(MAXIMUM)
        CASE(EQUAL)
        CASE(NOT_EQUAL)
        CASE(LESS)
        CASE(LESS_EQUAL)
        CASE(ADD)
        CASE(SUB)
        CASE(MUL)
    default:
        return bytes == 8 || run_row(rows, operation, 4);
    }
}

/** The same of elements of 2 bytes, of which one is chosen. */
static bool run_short_row(const struct rows *rows, uint32_t operation)
{
    return operation == KIWICHA_INTEGER_OPERATION_MINIMUM
               ? run_row(rows, KIWICHA_INTEGER_OPERATION_MINIMUM, 2)
               : run_row(rows, KIWICHA_INTEGER_OPERATION_MAXIMUM, 2);
}

/** Arithmetic and comparisons of integers. */
enum kiwicha_status kiwicha_run_integers(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_integers *p = params;
    const uint8_t *input_1 = kiwicha_source(memory, &p->input_1);
    const uint8_t *input_2 = kiwicha_source(memory, &p->input_2);
    const bool has_tables = p->table_1.bytes != 0;
    const uint32_t operation = p->operation, bytes = kiwicha_integer_bytes(p->dtype);
    const uint32_t output_bytes = operation >= FIRST_COMPARISON ? 1 : bytes;
    uint8_t *output = kiwicha_target(memory, &p->output);
    struct rows rows = {
        .table_1 = has_tables ? kiwicha_source(memory, &p->table_1) : NULL,
        .table_2 = has_tables ? kiwicha_source(memory, &p->table_2) : NULL,
        .stride_1 = p->strides_1[LAST],
        .stride_2 = p->strides_2[LAST],
        .count = p->shape[LAST],
    };
    uint32_t position[LAST] = {0};
    do {
        rows.input_1 = input_1 + bytes * row_start(p->strides_1, position);
        rows.input_2 = input_2 + bytes * row_start(p->strides_2, position);
        rows.output = output;
        output += rows.count * output_bytes;
        if (!(bytes == 4   ? run_any_row(&rows, operation, 4)
              : bytes == 8 ? run_any_row(&rows, operation, 8)
              : bytes == 2 ? run_short_row(&rows, operation)
                           : run_any_row(&rows, operation, 1))) {
            return KIWICHA_STATUS_BAD_VALUE;
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

/** Copies elements of a row of two tensors to one that is whole; the size is a constant. */
KIWICHA_SPECIALIZED void select_row(const uint8_t *condition, uint32_t stride,
                                    const struct rows *rows, uint32_t bytes)
{
    uint32_t index_1 = 0, index_2 = 0;
#pragma GCC unroll 1
    for (uint32_t k = 0; k < rows->count; k++) {
        const bool holds = *condition != 0;
        const void *input = holds ? rows->input_1 : rows->input_2;
        const int64_t value = kiwicha_read_integer(input, holds ? index_1 : index_2, bytes);
        kiwicha_write_integer(rows->output, k, bytes, value);
        condition += stride;
        index_1 += rows->stride_1;
        index_2 += rows->stride_2;
    }
}

/** SELECT: elements of one tensor where a condition holds, else of another. */
enum kiwicha_status kiwicha_run_select(const struct kiwicha_memory *memory, const void *params)
{
    if (memory == NULL || params == NULL) {
        return KIWICHA_STATUS_BAD_ARGUMENT;
    }
    const struct kiwicha_select *p = params;
    const uint8_t *condition = kiwicha_source(memory, &p->condition);
    const uint8_t *input_1 = kiwicha_source(memory, &p->input_1);
    const uint8_t *input_2 = kiwicha_source(memory, &p->input_2);
    uint8_t *output = kiwicha_target(memory, &p->output);
    const uint32_t bytes = p->element_bytes, stride = p->strides[LAST];
    struct rows rows = {
        .stride_1 = p->strides_1[LAST],
        .stride_2 = p->strides_2[LAST],
        .count = p->shape[LAST],
    };
    uint32_t position[LAST] = {0};
    do {
        const uint8_t *row = condition + row_start(p->strides, position);
        rows.input_1 = input_1 + bytes * row_start(p->strides_1, position);
        rows.input_2 = input_2 + bytes * row_start(p->strides_2, position);
        rows.output = output;
        output += rows.count * bytes;
        switch (bytes) {
        case 1:
            select_row(row, stride, &rows, 1);
            break;
        case 2:
            select_row(row, stride, &rows, 2);
            break;
        case 4:
            select_row(row, stride, &rows, 4);
            break;
        default:
            select_row(row, stride, &rows, 8);
        }
    } while (next_row(p->shape, position));
    return KIWICHA_STATUS_OK;
}
