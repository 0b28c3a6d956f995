"""MEAN and SUM of int16 over any axes.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/reduce.h in tflite-micro.
"""

from functools import partial

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Work
from kiwicha.kernels.mean import Mean, mean

__all__ = ["KERNELS"]

_ELEMENT_BYTES = 2


def _work(p: Mean) -> Work:
    return Work(p.output.bytes // _ELEMENT_BYTES, p.input.bytes // _ELEMENT_BYTES)


KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_MEAN,
        params=Mean,
        reference=partial(mean, dtype=np.int16),
        is_on_demand=True,
        cost=Cost(step=1550.0, output=45.9, unit=14.5),
        work=_work,
    ),
)
