"""FULLY_CONNECTED with custom instructions: inputs in fours, any number of batches and outputs."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv, fully_connected
from kiwicha.kernels.kernel import Call, Cost, Declaration, Memory
from kiwicha.kernels.simd_matrix import (
    is_aligned,
    matrix_pixels,
    matrix_work,
    packed,
    packed_weights,
)

__all__ = ["KERNELS"]


def _reference(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return fully_connected(memory, p, packed_weights(memory, p))


def _condition(call: Call) -> bool:
    return is_aligned(call.params)


def _prepare(call: Call) -> Call:
    return packed(call, matrix_pixels(call.params))


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_FULLY_CONNECTED,
        params=Conv,
        reference=_reference,
        cost=Cost(step=622.0, output=35.8, unit=1.26, extra=2.94),
        work=matrix_work,
        replaces=(Kernel.FULLY_CONNECTED,),
        condition=_condition,
        prepare=_prepare,
    ),
)
