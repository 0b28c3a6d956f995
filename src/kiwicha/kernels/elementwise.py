"""Arithmetic on two tensors, element by element, with broadcast.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/{add,mul}.h,
reference/{sub,prelu,maximum_minimum}.h in tflite-micro; tensorflow/lite/micro/kernels/
squared_difference.cc.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, array, i32, ref, u32
from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import requantization as numerics

__all__ = [
    "KERNELS",
    "Elementwise",
    "added",
    "is_plain",
    "multiplied",
    "pair_work",
    "subtracted",
]

Short = np.signedinteger[Any]
"""Of 8 or 16 bits."""


@dataclass(frozen=True)
class Elementwise(Struct):
    """ADD, MUL and others of two tensors of int8, in SHORT kernels of int16, with broadcast.

    ADD and SUB: each input is ``(x + offset) << left_shift``, times its scale; the sum or
    difference times the output's scale. MUL: the product of ``x + offset``, times the output's
    scale. MINIMUM and MAXIMUM: the smaller or larger byte, all offsets being 0. PRELU: where
    ``x + offset_1`` is 0 or more, this times the scale of input 1; else the product as in MUL.
    SQUARED_DIFFERENCE: the square of the difference as in SUB, times the output's scale.
    """

    input_1: Ref = ref("int8 or int16")
    input_2: Ref = ref("the same type")
    output: Ref = ref("the same type")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "output shape, leading dimensions 1")
    strides_1: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where input_1 is broadcast")
    strides_2: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where input_2 is broadcast")
    offset_1: int = i32("minus the zero point of input_1")
    offset_2: int = i32("minus the zero point of input_2")
    output_offset: int = i32("zero point of the output")
    left_shift: int = u32("ADD, SUB, SQUARED_DIFFERENCE: headroom bits; others: 0")
    multiplier_1: int = i32("of input_1")
    shift_1: int = i32("of input_1")
    multiplier_2: int = i32("of input_2")
    shift_2: int = i32("of input_2")
    output_multiplier: int = i32("of the result")
    output_shift: int = i32("of the result")
    activation_min: int = i32("smallest output")
    activation_max: int = i32("largest output")


def _operand(
    memory: Memory, p: Elementwise, number: int, left_shift: int, dtype: type[Short]
) -> NDArray[np.int64]:
    """Return ``(x + offset) << left_shift`` of input 1 or 2, broadcast to the output's shape."""
    offset = p.offset_1 if number == 1 else p.offset_2
    return numerics.wrap_int32((_values(memory, p, number, dtype) + offset) << left_shift)


def _values(
    memory: Memory, p: Elementwise, number: int, dtype: type[Short] = np.int8
) -> NDArray[np.int64]:
    """Return input 1 or 2, broadcast to the output's shape."""
    ref, strides = (p.input_1, p.strides_1) if number == 1 else (p.input_2, p.strides_2)
    index = np.zeros((1,) * len(p.shape), np.int64)
    for axis, (size, stride) in enumerate(zip(p.shape, strides, strict=True)):
        line = np.arange(size, dtype=np.int64) * stride
        index = index + line.reshape([-1 if k == axis else 1 for k in range(len(p.shape))])
    elements = int(index.max()) + 1 if index.size else 0
    values: NDArray[np.int64] = memory.load(ref, dtype, (elements,)).astype(np.int64)[index]
    return values


def _terms(
    memory: Memory, p: Elementwise, dtype: type[Short]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    scale = numerics.multiply_by_quantized_multiplier
    a = scale(_operand(memory, p, 1, p.left_shift, dtype), p.multiplier_1, p.shift_1)
    b = scale(_operand(memory, p, 2, p.left_shift, dtype), p.multiplier_2, p.shift_2)
    return a, b


def _requantized(
    p: Elementwise, values: NDArray[np.int64], dtype: type[Short] = np.int8
) -> NDArray[Short]:
    return numerics.requantize(
        numerics.wrap_int32(values),
        p.output_multiplier,
        p.output_shift,
        p.output_offset,
        p.activation_min,
        p.activation_max,
    ).astype(dtype)


def added(memory: Memory, p: Elementwise, dtype: type[Short] = np.int8) -> NDArray[Short]:
    """Return the output of an ADD."""
    return _requantized(p, np.add(*_terms(memory, p, dtype)), dtype)


def subtracted(memory: Memory, p: Elementwise, dtype: type[Short] = np.int8) -> NDArray[Short]:
    """Return the output of a SUB."""
    return _requantized(p, np.subtract(*_terms(memory, p, dtype)), dtype)


def multiplied(memory: Memory, p: Elementwise, dtype: type[Short] = np.int8) -> NDArray[Short]:
    """Return the output of a MUL."""
    a, b = (_operand(memory, p, number, 0, dtype) for number in (1, 2))
    return _requantized(p, a * b, dtype)


def _squared_difference(memory: Memory, p: Elementwise) -> NDArray[Short]:
    return _requantized(p, np.subtract(*_terms(memory, p, np.int8)) ** 2)


def _minimum(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    return _compared(p, np.minimum(_values(memory, p, 1), _values(memory, p, 2)))


def _maximum(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    return _compared(p, np.maximum(_values(memory, p, 1), _values(memory, p, 2)))


def _compared(p: Elementwise, values: NDArray[np.int64]) -> NDArray[np.int8]:
    return np.clip(values + p.output_offset, p.activation_min, p.activation_max).astype(np.int8)


def _prelu(memory: Memory, p: Elementwise) -> NDArray[np.int8]:
    """Return a tensor whose negative values are multiplied by another one's."""
    x = _operand(memory, p, 1, 0, np.int8)
    limits = p.output_offset, p.activation_min, p.activation_max
    kept = numerics.requantize(x, p.multiplier_1, p.shift_1, *limits)
    return np.where(x >= 0, kept, multiplied(memory, p)).astype(np.int8)


def is_plain(p: Elementwise) -> bool:
    """Whether both inputs have the output's shape."""
    row_major, stride = [], 1
    for size in reversed(p.shape):
        row_major.append(stride)
        stride *= size
    return all(
        size == 1 or found == wanted
        for strides in (p.strides_1, p.strides_2)
        for size, found, wanted in zip(p.shape, strides, reversed(row_major), strict=True)
    )


def pair_work(p: Elementwise) -> Work:
    """Return what a kernel of this kind does."""
    return Work(math.prod(p.shape), math.prod(p.shape[:-1]))


KERNELS = (
    Declaration(
        kernel=Kernel.ADD,
        params=Elementwise,
        check="elementwise",
        reference=added,
        is_in_place=True,
        cost=Cost(step=423.0, output=195.0, unit=73.8, extra=0.0),
        work=pair_work,
    ),
    Declaration(
        kernel=Kernel.SUB,
        params=Elementwise,
        check="elementwise",
        reference=subtracted,
        is_in_place=True,
        cost=Cost(step=300.0, output=200.0, unit=51.7, extra=0.0),
        work=pair_work,
    ),
    Declaration(
        kernel=Kernel.MUL,
        params=Elementwise,
        check="elementwise",
        reference=multiplied,
        is_in_place=True,
        cost=Cost(step=0.0, output=81.0, unit=78.5, extra=0.0),
        work=pair_work,
    ),
    Declaration(
        kernel=Kernel.MINIMUM,
        params=Elementwise,
        check="elementwise",
        reference=_minimum,
        is_in_place=True,
        cost=Cost(step=0.0, output=34.6, unit=95.1, extra=0.0),
        work=pair_work,
    ),
    Declaration(
        kernel=Kernel.MAXIMUM,
        params=Elementwise,
        check="elementwise",
        reference=_maximum,
        is_in_place=True,
        cost=Cost(step=0.0, output=36.9, unit=73.8, extra=0.0),
        work=pair_work,
    ),
    Declaration(
        kernel=Kernel.PRELU,
        params=Elementwise,
        check="elementwise",
        reference=_prelu,
        is_in_place=True,
        cost=Cost(step=1800.0, output=72.6, unit=117.0, extra=0.0),
        work=pair_work,
    ),
    Declaration(
        kernel=Kernel.SQUARED_DIFFERENCE,
        params=Elementwise,
        check="elementwise",
        reference=_squared_difference,
        is_in_place=True,
        cost=Cost(step=790.0, output=197.0, unit=56.9, extra=0.0),
        work=pair_work,
    ),
)
