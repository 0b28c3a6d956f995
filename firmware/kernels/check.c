#include "check.h"

KIWICHA_SMALL uint32_t kiwicha_saturating_multiply(uint32_t a, uint32_t b)
{
    uint64_t product = (uint64_t)a * b;
    return product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;
}

KIWICHA_SMALL uint32_t kiwicha_saturating_product(const uint32_t *sizes, uint32_t count)
{
    uint32_t product = 1;
    for (uint32_t k = 0; k < count; k++) {
        if (sizes[k] == 0) {
            return 0;
        }
        product = kiwicha_saturating_multiply(product, sizes[k]);
    }
    return product;
}

static void fail(struct kiwicha_check *check, enum kiwicha_status status)
{
    if (check->status == KIWICHA_STATUS_OK) {
        check->status = status;
    }
}

KIWICHA_SMALL void kiwicha_require(struct kiwicha_check *check, bool condition)
{
    if (!condition) {
        fail(check, KIWICHA_STATUS_BAD_PARAMETERS);
    }
}

KIWICHA_SMALL void kiwicha_require_range(struct kiwicha_check *check, int32_t value,
                                         int32_t minimum, int32_t maximum)
{
    kiwicha_require(check, value >= minimum && value <= maximum);
}

KIWICHA_SMALL void kiwicha_require_extents(struct kiwicha_check *check, const uint32_t *values,
                                           uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        kiwicha_require(check, values[k] >= 1 && values[k] <= KIWICHA_MAX_EXTENT);
    }
}

KIWICHA_SMALL static void require_inside(struct kiwicha_check *check, const struct kiwicha_ref *ref,
                                         uint32_t alignment)
{
    bool is_constant = (ref->offset & KIWICHA_REF_CONSTANT_BIT) != 0;
    uint32_t offset = ref->offset & ~KIWICHA_REF_CONSTANT_BIT;
    uint32_t begin = is_constant ? check->memory->constants_offset : 0;
    uint32_t end = is_constant ? check->memory->constants_end : check->memory->arena_bytes;
    if (offset < begin || offset > end || ref->bytes > end - offset || offset % alignment != 0) {
        fail(check, KIWICHA_STATUS_BAD_BOUNDS);
    }
}

KIWICHA_SMALL void kiwicha_require_source(struct kiwicha_check *check,
                                          const struct kiwicha_ref *ref, uint32_t bytes,
                                          uint32_t alignment)
{
    kiwicha_require(check, bytes != 0 && ref->bytes == bytes);
    require_inside(check, ref, alignment);
}

KIWICHA_SMALL static void require_in_arena(struct kiwicha_check *check,
                                           const struct kiwicha_ref *ref)
{
    if ((ref->offset & KIWICHA_REF_CONSTANT_BIT) != 0) {
        fail(check, KIWICHA_STATUS_BAD_BOUNDS);
    }
}

KIWICHA_SMALL void kiwicha_require_target(struct kiwicha_check *check,
                                          const struct kiwicha_ref *ref, uint32_t bytes,
                                          uint32_t alignment)
{
    require_in_arena(check, ref);
    kiwicha_require_source(check, ref, bytes, alignment);
}

KIWICHA_SMALL void kiwicha_require_scratch(struct kiwicha_check *check,
                                           const struct kiwicha_ref *ref, uint32_t bytes)
{
    kiwicha_require(check, ref->bytes >= bytes);
    require_in_arena(check, ref);
    require_inside(check, ref, sizeof(kiwicha_word));
}

KIWICHA_SMALL void kiwicha_require_scale(struct kiwicha_check *check, int32_t multiplier,
                                         int32_t shift)
{
    kiwicha_require(check, multiplier >= 0);
    kiwicha_require_range(check, shift, -31, 30);
}

KIWICHA_SMALL void kiwicha_require_output(struct kiwicha_check *check, int32_t offset,
                                          int32_t activation_min, int32_t activation_max)
{
    kiwicha_require_range(check, offset, INT8_MIN, INT8_MAX);
    kiwicha_require_range(check, activation_min, INT8_MIN, INT8_MAX);
    kiwicha_require_range(check, activation_max, activation_min, INT8_MAX);
}
