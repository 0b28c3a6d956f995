#include "library.h"

#include "runtime.h"

uint32_t kiwicha_model_bytes(void)
{
    return sizeof(struct kiwicha_model);
}
