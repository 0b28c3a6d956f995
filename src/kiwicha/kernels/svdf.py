"""SVDF with a state of int16.

Notes
-----
Ref: tensorflow/lite/micro/kernels/svdf_common.cc, EvalInt16SvdfReference.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.requantization import (
    multiply_by_quantized_multiplier,
    requantize,
    wrap_int32,
)

__all__ = ["KERNELS", "Svdf"]


@dataclass(frozen=True)
class Svdf(Struct):
    """SVDF: a filter's newest number is a product of the input, its result one of its numbers.

    The results of as many filters as the rank add up to a unit's.
    """

    input: Ref = ref("int8 [batches, inputs]")
    output: Ref = ref("int8 [batches, units]")
    state: Ref = ref("int16 [batches, filters, steps], the newest last: state, written")
    features: Ref = ref("int8 [filters, inputs]")
    feature_bias: Ref = ref("int32 [filters]: what the zero point of the input adds")
    time: Ref = ref("int16 [filters, steps]")
    bias: Ref = ref("int32 [units]")
    batches: int = u32("rows of the input")
    inputs: int = u32("size of a row")
    units: int = u32("size of a row of the output")
    rank: int = u32("filters of a unit")
    steps: int = u32("numbers that are kept of a filter")
    state_multiplier: int = i32("of the state's scale")
    state_shift: int = i32("of it")
    output_multiplier: int = i32("of the output's scale")
    output_shift: int = i32("of it")
    output_offset: int = i32("zero point of the output")


def _reference(memory: Memory, p: Svdf) -> NDArray[np.int8]:
    filters = p.units * p.rank
    x = memory.load(p.input, np.int8, (p.batches, p.inputs)).astype(np.int64)
    state = memory.load(p.state, np.int16, (p.batches, filters, p.steps)).astype(np.int64)
    features = memory.load(p.features, np.int8, (filters, p.inputs)).astype(np.int64)
    added = memory.load(p.feature_bias, np.int32, (filters,)).astype(np.int64)
    time = memory.load(p.time, np.int16, (filters, p.steps)).astype(np.int64)
    bias = memory.load(p.bias, np.int32, (p.units,)).astype(np.int64)
    sums = wrap_int32(x @ features.T + added)
    newest = multiply_by_quantized_multiplier(sums, p.state_multiplier, p.state_shift)
    state = np.roll(state, -1, axis=2)
    state[..., -1] = newest.clip(-(2**15), 2**15 - 1)
    raw = np.ascontiguousarray(state.astype("<i2")).reshape(-1).view(np.uint8)
    memory.scatter(p.state, np.arange(raw.size, dtype=np.int64), raw)
    results = (state * time).sum(axis=2).reshape(p.batches, p.units, p.rank).sum(axis=2)
    limits = p.output_offset, -128, 127
    scale = p.output_multiplier, p.output_shift
    return requantize(wrap_int32(results + bias), *scale, *limits).astype(np.int8)


def _work(p: Svdf) -> Work:
    filters = p.batches * p.units * p.rank
    return Work(filters, filters * p.inputs, filters * p.steps)


KERNELS = (
    Declaration(
        kernel=Kernel.SVDF,
        params=Svdf,
        reference=_reference,
        is_on_demand=True,
        states=("state",),
        cost=Cost(step=600.0, output=90.0, unit=9.0, extra=16.0),
        work=_work,
    ),
)
