"""DEPTHWISE_CONV_2D with custom instructions: an output for each input channel, these in fours."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.cfu import LANES
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.conv import (
    Conv,
    depthwise_convolved,
    output_count,
    rows_and_columns_seen,
    with_offset,
)
from kiwicha.kernels.kernel import Call, Cost, Declaration, Memory, Work
from kiwicha.kernels.simd_matrix import padded_tables
from kiwicha.kernels.weight_order import (
    WORD_BYTES,
    pack_depthwise,
    padded_channels,
    unpack_depthwise,
)

__all__ = ["KERNELS"]


def _reference(memory: Memory, p: Conv) -> NDArray[np.int8]:
    if p.output_channels % LANES:
        raise ProgramError(f"output_channels must be a multiple of {LANES}, not {p}")
    size = p.kernel_height * p.kernel_width * p.output_channels
    packed = memory.load(p.weights, np.int8, (size,))
    weights = unpack_depthwise(packed, p.kernel_height, p.kernel_width, p.output_channels)
    return depthwise_convolved(memory, p, with_offset(p, weights[0]))


def _condition(call: Call) -> bool:
    p: Conv = call.params
    is_plain = p.depth_multiplier == 1 and p.input_channels % WORD_BYTES == 0
    # The offset is a weight, too.
    return is_plain and p.weight_offset <= np.iinfo(np.int8).max


def _prepare(call: Call) -> Call:
    weights = pack_depthwise(call.constants["weights"].astype(np.int8, copy=False))
    return dataclasses.replace(call, constants={"weights": weights, **padded_tables(call)})


def _work(p: Conv) -> Work:
    rows, _ = rows_and_columns_seen(p)
    width = padded_channels(p.output_width) * p.kernel_width
    return Work(output_count(p), p.batches * rows * width * p.output_channels)


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_DEPTHWISE_CONV,
        params=Conv,
        reference=_reference,
        cost=Cost(step=693.0, output=25.6, unit=4.37, extra=0.0),
        work=_work,
        replaces=(Kernel.DEPTHWISE_CONV,),
        condition=_condition,
        prepare=_prepare,
    ),
)
