"""CONV_2D of single pixels with custom instructions: a matrix product."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.conv import Conv, convolved
from kiwicha.kernels.kernel import Call, Cost, Declaration, Memory
from kiwicha.kernels.simd_matrix import (
    is_aligned,
    is_pointwise,
    matrix_pixels,
    matrix_work,
    packed,
    packed_weights,
)

__all__ = ["KERNELS"]


def _reference(memory: Memory, p: Conv) -> NDArray[np.int8]:
    if (p.kernel_height, p.kernel_width, p.pad_top, p.pad_left) != (1, 1, 0, 0):
        raise ProgramError(f"kernel must be 1x1 without padding, not {p}")
    return convolved(memory, p, packed_weights(memory, p))


def _condition(call: Call) -> bool:
    return is_aligned(call.params) and is_pointwise(call.params)


def _prepare(call: Call) -> Call:
    return packed(call, matrix_pixels(call.params))


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_CONV_1X1,
        params=Conv,
        reference=_reference,
        cost=Cost(step=1030.0, output=21.0, unit=1.21, extra=2.18),
        work=matrix_work,
        replaces=(Kernel.CONV,),
        condition=_condition,
        prepare=_prepare,
    ),
)
