"""ADD, SUB and MUL of int16, element by element, with broadcast.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/{add,sub}.h and integer_ops/mul.h in tflite-micro.
"""

from functools import partial

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise, added, multiplied, pair_work, subtracted
from kiwicha.kernels.kernel import Cost, Declaration

__all__ = ["KERNELS"]

KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_ADD,
        params=Elementwise,
        check="short_elementwise",
        reference=partial(added, dtype=np.int16),
        is_in_place=True,
        is_on_demand=True,
        cost=Cost(step=244.0, output=83.7, unit=91.8),
        work=pair_work,
    ),
    Declaration(
        kernel=Kernel.SHORT_SUB,
        params=Elementwise,
        check="short_elementwise",
        reference=partial(subtracted, dtype=np.int16),
        is_in_place=True,
        is_on_demand=True,
        cost=Cost(step=137.0, output=81.8, unit=114.0),
        work=pair_work,
    ),
    Declaration(
        kernel=Kernel.SHORT_MUL,
        params=Elementwise,
        check="short_elementwise",
        reference=partial(multiplied, dtype=np.int16),
        is_in_place=True,
        is_on_demand=True,
        cost=Cost(step=800.0, output=47.6, unit=33.2),
        work=pair_work,
    ),
)
