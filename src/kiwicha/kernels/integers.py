"""Operators on integers and booleans, element by element, with broadcast; and a choice of two."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.integers import IntegerOperation
from kiwicha.contract.layout import Ref, Struct, array, ref, u32
from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.element_types import broadcast, numpy_type
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.integers import OPERATIONS, selected

__all__ = ["KERNELS", "Integers", "Select"]


@dataclass(frozen=True)
class Integers(Struct):
    """Arithmetic and comparisons of two tensors of plain integers or booleans, with broadcast.

    With tables, inputs are bytes, and what is compared are their entries. Of int16 there are
    MINIMUM and MAXIMUM alone. A divisor of 0 ends the inference.
    """

    input_1: Ref = ref("int8, int16, int32, int64 or bool")
    input_2: Ref = ref("the same type")
    table_1: Ref = ref("int32 [256], constant, by the byte of input_1 taken as unsigned; or none")
    table_2: Ref = ref("the same for input_2")
    output: Ref = ref("bool from comparisons, else the type of the inputs")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "output shape, leading dimensions 1")
    strides_1: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where input_1 is broadcast")
    strides_2: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where input_2 is broadcast")
    operation: int = u32("IntegerOperation")
    dtype: int = u32("DType of the inputs")


@dataclass(frozen=True)
class Select(Struct):
    """SELECT: elements of one tensor where a condition holds, else of another, with broadcast."""

    condition: Ref = ref("bool")
    input_1: Ref = ref("any type")
    input_2: Ref = ref("the same type")
    output: Ref = ref("the same type")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "output shape, leading dimensions 1")
    strides: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where it is broadcast")
    strides_1: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where input_1 is broadcast")
    strides_2: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where input_2 is broadcast")
    element_bytes: int = u32("1, 2, 4 or 8")


def _operand(
    memory: Memory, p: Integers, source: Ref, table: Ref, strides: tuple[int, ...]
) -> NDArray[np.int64]:
    """Return an input, or what its table says of it."""
    dtype = np.dtype(np.uint8) if table.bytes else numpy_type(p.dtype)
    values = broadcast(memory, source, dtype, p.shape, strides)
    if table.bytes:
        values = memory.load(table, np.int32, (256,))[values]
    return values.astype(np.int64)


def _integers(memory: Memory, p: Integers) -> NDArray[Any]:
    operation = IntegerOperation(p.operation)
    first = _operand(memory, p, p.input_1, p.table_1, p.strides_1)
    second = _operand(memory, p, p.input_2, p.table_2, p.strides_2)
    if operation.divides and not second.all():
        raise ProgramError("a divisor must not be 0")
    dtype = np.dtype(np.bool_) if operation.is_comparison else numpy_type(p.dtype)
    return OPERATIONS[operation](first, second).astype(dtype)


def _select(memory: Memory, p: Select) -> NDArray[Any]:
    elements = np.dtype(f"u{p.element_bytes}")
    return selected(
        broadcast(memory, p.condition, np.dtype(np.bool_), p.shape, p.strides),
        broadcast(memory, p.input_1, elements, p.shape, p.strides_1),
        broadcast(memory, p.input_2, elements, p.shape, p.strides_2),
    )


def _work(p: Integers) -> Work:
    count = math.prod(p.shape)
    divides = IntegerOperation(p.operation).divides
    return Work(count, math.prod(p.shape[:-1]), count if divides else 0)


def _select_work(p: Select) -> Work:
    return Work(math.prod(p.shape), math.prod(p.shape[:-1]))


KERNELS = (
    Declaration(
        kernel=Kernel.INTEGERS,
        params=Integers,
        reference=_integers,
        is_on_demand=True,
        optional=("table_1", "table_2"),
        cost=Cost(step=0.0, output=20.9, unit=125.0, extra=81.6),
        work=_work,
    ),
    Declaration(
        kernel=Kernel.SELECT,
        params=Select,
        reference=_select,
        is_on_demand=True,
        cost=Cost(step=355.0, output=31.9, unit=53.5),
        work=_select_work,
    ),
)
