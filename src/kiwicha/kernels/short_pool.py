"""AVERAGE_POOL_2D and MAX_POOL_2D of int16.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/pooling.h in tflite-micro.
"""

from functools import partial

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration
from kiwicha.kernels.pool import Pool, average_pool, max_pool, pool_work

__all__ = ["KERNELS"]

KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_AVERAGE_POOL,
        params=Pool,
        check="short_pool",
        reference=partial(average_pool, dtype=np.int16),
        is_on_demand=True,
        cost=Cost(step=700.0, output=95.9, unit=9.16),
        work=pool_work,
    ),
    Declaration(
        kernel=Kernel.SHORT_MAX_POOL,
        params=Pool,
        check="short_pool",
        reference=partial(max_pool, dtype=np.int16),
        is_on_demand=True,
        cost=Cost(step=613.0, output=49.1, unit=12.2),
        work=pool_work,
    ),
)
