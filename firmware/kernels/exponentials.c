#include "exponentials.h"

KIWICHA_SMALL void kiwicha_require_exponentials(struct kiwicha_check *check,
                                                const struct kiwicha_ref *table)
{
    kiwicha_require_source(check, table, KIWICHA_EXPONENTIALS * sizeof(int32_t), sizeof(int32_t));
    kiwicha_require(check, (table->offset & KIWICHA_REF_CONSTANT_BIT) != 0);
    if (check->status == KIWICHA_STATUS_OK) {
        const int32_t *exponentials = kiwicha_source(check->memory, table);
        kiwicha_require(check, exponentials[0] == INT32_MAX);
        for (uint32_t k = 1; k < KIWICHA_EXPONENTIALS; k++) {
            kiwicha_require(check, exponentials[k] >= 0 && exponentials[k] <= exponentials[k - 1]);
        }
    }
}
