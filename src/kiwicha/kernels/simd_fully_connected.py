"""FULLY_CONNECTED with custom instructions: inputs in fours, any number of batches and outputs."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.cfu import LANES
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv, fully_connected
from kiwicha.kernels.kernel import Call, Cost, Declaration, Memory, Work
from kiwicha.kernels.simd_matrix import (
    is_aligned,
    matrix_pixels,
    packed,
    packed_weights,
    padded_macs,
)
from kiwicha.kernels.weight_order import padded_channels

__all__ = ["KERNELS"]


def _reference(memory: Memory, p: Conv) -> NDArray[np.int8]:
    return fully_connected(memory, p, packed_weights(memory, p))


def _condition(call: Call) -> bool:
    return is_aligned(call.params)


def _prepare(call: Call) -> Call:
    return packed(call, matrix_pixels(call.params))


def _work(p: Conv) -> Work:
    fours, singles = divmod(p.batches, LANES)
    _, _, macs = padded_macs(p)
    # All weights are read for each pass, which takes a quarter longer than a batch of its own.
    passes = -(-p.batches // matrix_pixels(p))
    groups = (fours + singles) * padded_channels(p.output_channels)
    return Work(groups, fours * LANES * macs, singles * macs + passes * macs * 5 // 4)


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_FULLY_CONNECTED,
        params=Conv,
        reference=_reference,
        cost=Cost(step=560.0, output=60.0, unit=1.55, extra=1.1),
        work=_work,
        replaces=(Kernel.FULLY_CONNECTED,),
        condition=_condition,
        prepare=_prepare,
    ),
)
