"""Element-wise kernels of two tensors and reductions, in numpy, bit for bit as the C kernels.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/{add,mul}.h,
reference/{sub,prelu,maximum_minimum,reduce}.h in tflite-micro.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import MAX_RANK, Elementwise, Mean
from kiwicha.numerics import requantization as numerics
from kiwicha.sim.reference.memory import Memory

__all__ = ["add", "maximum", "mean", "minimum", "mul", "prelu", "reduce_max", "sub"]


def _operand(memory: Memory, p: Elementwise, number: int, left_shift: int) -> NDArray[np.int64]:
    """Return ``(x + offset) << left_shift`` of input 1 or 2, broadcast to the output's shape."""
    offset = p.offset_1 if number == 1 else p.offset_2
    return numerics.wrap_int32((_bytes(memory, p, number) + offset) << left_shift)


def _bytes(memory: Memory, p: Elementwise, number: int) -> NDArray[np.int64]:
    """Return input 1 or 2, broadcast to the output's shape."""
    ref, strides = (p.input_1, p.strides_1) if number == 1 else (p.input_2, p.strides_2)
    index = np.zeros((1,) * len(p.shape), np.int64)
    for axis, (size, stride) in enumerate(zip(p.shape, strides, strict=True)):
        line = np.arange(size, dtype=np.int64) * stride
        index = index + line.reshape([-1 if k == axis else 1 for k in range(len(p.shape))])
    elements = int(index.max()) + 1 if index.size else 0
    values: NDArray[np.int64] = memory.load(ref, np.int8, (elements,)).astype(np.int64)[index]
    return values


def _sum_with(memory: Memory, p: Elementwise, sign: int) -> NDArray[np.int8]:
    scale = numerics.multiply_by_quantized_multiplier
    a = scale(_operand(memory, p, 1, p.left_shift), p.multiplier_1, p.shift_1)
    b = scale(_operand(memory, p, 2, p.left_shift), p.multiplier_2, p.shift_2)
    return _elementwise_result(p, a + sign * b)


def _elementwise_result(p: Elementwise, values: NDArray[np.int64]) -> NDArray[np.int8]:
    return numerics.requantize(
        numerics.wrap_int32(values),
        p.output_multiplier,
        p.output_shift,
        p.output_offset,
        p.activation_min,
        p.activation_max,
    ).astype(np.int8)


def add(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    """Return ADD, SUB or MUL of two tensors."""
    return _sum_with(memory, p, 1)


def sub(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    """Return ADD, SUB or MUL of two tensors."""
    return _sum_with(memory, p, -1)


def mul(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    """Return ADD, SUB or MUL of two tensors."""
    return _elementwise_result(p, _operand(memory, p, 1, 0) * _operand(memory, p, 2, 0))


def minimum(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    """Return the smaller bytes of two tensors."""
    return _compared(p, np.minimum(_bytes(memory, p, 1), _bytes(memory, p, 2)))


def maximum(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    """Return the larger bytes of two tensors."""
    return _compared(p, np.maximum(_bytes(memory, p, 1), _bytes(memory, p, 2)))


def _compared(p: Elementwise, values: NDArray[np.int64]) -> NDArray[np.int8]:
    return np.clip(values + p.output_offset, p.activation_min, p.activation_max).astype(np.int8)


def prelu(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    """Return a tensor whose negative values are multiplied by another one's."""
    x = _operand(memory, p, 1, 0)
    limits = p.output_offset, p.activation_min, p.activation_max
    kept = numerics.requantize(x, p.multiplier_1, p.shift_1, *limits)
    return np.where(x >= 0, kept, mul(memory, p)).astype(np.int8)


def mean(memory: Memory, p: Mean) -> NDArray[np.int8]:
    """Return the scaled sums of a MEAN or SUM."""
    x = memory.load(p.input, np.int8, p.shape).astype(np.int64) + p.input_offset
    sums = numerics.wrap_int32(x.sum(axis=_axes(p)))
    means = numerics.requantize(sums, p.multiplier, p.shift, p.output_offset, -128, 127)
    return means.astype(np.int8)


def reduce_max(memory: Memory, p: Mean) -> NDArray[np.int8]:
    """Return the largest bytes along some dimensions."""
    maxima: NDArray[np.int8] = memory.load(p.input, np.int8, p.shape).max(axis=_axes(p))
    return maxima


def _axes(p: Mean) -> tuple[int, ...]:
    return tuple(axis for axis in range(MAX_RANK) if p.is_reduced[axis])
