"""Random models of one operator on integers or booleans, or one that computed indices steer."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.oracle import LITERT, MICRO, Case

__all__ = ["OPERATORS", "on_constants", "single_operator"]

Shape = tuple[int, ...]
_BYTES = (np.int8, np.uint8)
_WORDS = (np.int32, np.int64)
_ANY = (np.int8, np.uint8, np.int16, np.int32, np.int64, np.bool_, np.float32)
_MICRO: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("ADD", "SUB", "MUL", "DIV"), (np.int32,)),
    **dict.fromkeys(("MINIMUM", "MAXIMUM"), _WORDS),
    **dict.fromkeys(("EQUAL", "NOT_EQUAL"), (np.int8, *_WORDS, np.bool_)),
    **dict.fromkeys(("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"), (np.int8, *_WORDS)),
    **dict.fromkeys(("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT", "REDUCE_ALL"), (np.bool_,)),
    **dict.fromkeys(("GATHER", "GATHER_ND", "EMBEDDING_LOOKUP"), (np.int8, np.float32)),
    "SELECT_V2": (np.int8, np.int16, np.float32),
    "CUMSUM": (np.int8,),
    "FILL": (np.int8, np.int32, np.float32),
    "CAST": (np.int8, np.int16, np.int32, np.bool_, np.float32),
}
"""Types that TensorFlow Lite Micro has, by operator; LiteRT has the others."""


def single_operator(operator: str, seed: int) -> Case:
    """Return a model of one operator and its inputs, always the same for one seed."""
    return OPERATORS[operator](_Glue(random.Random(f"{operator}{seed}"), operator))


def on_constants(operator: str, seed: int) -> bytes:
    """Return the same model with constants for inputs, and beside it an input that is moved."""
    rng = random.Random(f"{operator}{seed}")
    return OPERATORS[operator](_Glue(rng, operator, has_inputs=False)).model


class _Glue:
    """Collects a model of one operator."""

    def __init__(self, rng: random.Random, operator: str, *, has_inputs: bool = True) -> None:
        self.rng = rng
        self.operator = operator
        self._has_inputs = has_inputs
        self._generator = np.random.default_rng(rng.getrandbits(64))
        self._builder = ModelBuilder()
        self._inputs: list[int] = []
        self._values: list[NDArray[Any]] = []

    def case(
        self, inputs: Sequence[int], outputs: Sequence[int], dtype: Any, **options: Any
    ) -> Case:
        """Return the model; its type says who defines it."""
        self._builder.operator(self.operator, inputs, outputs, **options)
        is_micro = dtype in _MICRO.get(self.operator, ())
        if not self._has_inputs:
            self._inputs, outputs = ([self._builder.tensor((4,), np.int32)] for _ in range(2))
            self._builder.operator("RESHAPE", self._inputs, outputs)
        model = self._builder.build(self._inputs, outputs)
        return Case(model, tuple(self._values), MICRO if is_micro else LITERT)

    def shape(self, lowest: int = 1, highest: int = 4) -> Shape:
        """Return a random shape."""
        return tuple(self.rng.randint(1, 5) for _ in range(self.rng.randint(lowest, highest)))

    def narrower(self, shape: Shape) -> Shape:
        """Return a shape that broadcasts to another one."""
        kept = tuple(1 if self.rng.random() < 0.3 else size for size in shape)
        return kept[self.rng.choice([0, 0, self.rng.randint(0, len(kept))]) :]

    def numbers(self, shape: Shape, dtype: Any) -> NDArray[Any]:
        """Return random numbers, half of them small, some of them extreme."""
        if dtype is np.bool_:
            return self._generator.integers(0, 2, shape).astype(np.bool_)
        if dtype is np.float32:
            return (self._generator.normal(size=shape) * 90).astype(np.float32)
        limits = np.iinfo(dtype)
        wide = self._generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        small = self._generator.integers(0 if limits.min == 0 else -3, 4, shape).astype(dtype)
        ends = self._generator.choice(np.array([limits.min, limits.max], dtype), shape)
        chance = self._generator.random(shape)
        return np.where(chance < 0.5, small, np.where(chance < 0.9, wide, ends)).astype(dtype)

    def scale(self, dtype: Any) -> dict[str, Any]:
        """Return a quantization for bytes, and nothing for others."""
        if dtype not in _BYTES:
            return {}
        first = 0 if dtype is np.uint8 else -128
        zero_point = self.rng.choice([first, first + 128, first + self.rng.randint(0, 255)])
        return {"scale": 10 ** self.rng.uniform(-3, -0.01), "zero_point": zero_point}

    def tensor(
        self,
        shape: Shape,
        dtype: Any,
        *,
        values: NDArray[Any] | None = None,
        like: dict[str, Any] | None = None,
        is_constant: bool = False,
    ) -> int:
        """Add an input of the model, or a constant, with its numbers."""
        scale = self.scale(dtype) if like is None else like
        numbers = np.asarray(self.numbers(shape, dtype) if values is None else values)
        is_constant = is_constant or not self._has_inputs
        data = numbers if is_constant else None
        index = self._builder.tensor(shape, dtype, data=data, **scale)
        if not is_constant:
            self._inputs.append(index)
            self._values.append(numbers)
        return index

    def output(self, shape: Shape, dtype: Any, like: dict[str, Any] | None = None) -> int:
        """Add an output."""
        return self._builder.tensor(shape, dtype, **(self.scale(dtype) if like is None else like))

    def constant(self, values: Any, dtype: Any = np.int32) -> int:
        """Add a constant of integers."""
        return self.tensor(
            np.shape(values), dtype, values=np.asarray(values, dtype), is_constant=True
        )

    def indices(self, shape: Shape, sizes: Sequence[int], dtype: Any) -> int:
        """Add indices below sizes, which the last dimension goes through; mostly an input."""
        columns = [self._generator.integers(0, size, shape[:-1]) for size in sizes]
        values = np.stack(columns, -1).reshape(shape).astype(dtype)
        return self.tensor(shape, dtype, values=values, is_constant=self.rng.random() < 0.2)


def _pair(*types: Any, is_comparison: bool = False) -> Callable[[_Glue], Case]:
    def add(model: _Glue) -> Case:
        rng, dtype = model.rng, model.rng.choice(types)
        first = model.shape()
        second = model.narrower(first)
        if rng.random() < 0.5:
            first, second = second, first
        like = model.scale(dtype) if rng.random() < 0.3 else None
        a = model.tensor(first, dtype, like=like)
        values = model.numbers(second, dtype)
        if "DIV" in model.operator or "MOD" in model.operator:
            values = np.where(values == 0, 7, values).astype(dtype)
            # The interpreter traps on a quotient of 2**31.
            values = np.where(values == -1, 3, values).astype(dtype)
        is_constant = rng.random() < 0.3
        b = model.tensor(second, dtype, values=values, like=like, is_constant=is_constant)
        shape = np.broadcast_shapes(first, second)
        y = model.output(shape, np.bool_ if is_comparison else dtype)
        return model.case([a, b], [y], dtype)

    return add


def _single(*types: Any) -> Callable[[_Glue], Case]:
    def add(model: _Glue) -> Case:
        dtype, shape = model.rng.choice(types), model.shape()
        return model.case([model.tensor(shape, dtype)], [model.output(shape, dtype)], dtype)

    return add


def _cast(model: _Glue) -> Case:
    before, after = model.rng.choice(_ANY), model.rng.choice(_ANY)
    shape = model.shape()
    x, y = model.tensor(shape, before), model.output(shape, after)
    # Of two types that one which TensorFlow Lite Micro lacks counts.
    return model.case([x], [y], after if before in _MICRO["CAST"] else before)


def _select(model: _Glue) -> Case:
    rng, dtype = model.rng, model.rng.choice(_ANY)
    shape = model.shape(1, 4)
    like = model.scale(dtype)
    if model.operator == "SELECT":
        condition = rng.choice([shape, shape[:1]])
        shapes = (shape, shape)
    else:
        # One has the whole shape; which one it is, is random.
        shapes_of_all = [shape, *(model.narrower(shape) for _ in range(2))]
        rng.shuffle(shapes_of_all)
        condition, *rest = shapes_of_all
        shapes = (rest[0], rest[1])
    operands = [model.tensor(condition, np.bool_)]
    operands += [
        model.tensor(one, dtype, like=like, is_constant=rng.random() < 0.2) for one in shapes
    ]
    return model.case(operands, [model.output(shape, dtype, like)], dtype)


def _gather(model: _Glue) -> Case:
    rng, dtype = model.rng, model.rng.choice(_ANY)
    kind = np.int32 if dtype in {np.int8, np.float32} else rng.choice(_WORDS)
    shape = model.shape()
    axis = rng.randrange(len(shape))
    batch_dims = rng.choice([0, 0, rng.randint(0, axis)])
    more = model.shape(1 if batch_dims else 0, 2)
    like = model.scale(dtype)
    x = model.tensor(shape, dtype, like=like)
    wanted = (*shape[:batch_dims], *more)
    values = model._generator.integers(0, shape[axis], wanted).astype(kind)
    indices = model.tensor(wanted, kind, values=values)
    y = model.output((*shape[:axis], *more, *shape[axis + 1 :]), dtype, like)
    options = {"axis": rng.choice([axis, axis - len(shape)]), "batchDims": batch_dims}
    return model.case([x, indices], [y], dtype, **options)


def _gather_nd(model: _Glue) -> Case:
    rng, dtype = model.rng, model.rng.choice(_ANY)
    kind = np.int32 if dtype in {np.int8, np.float32} else rng.choice(_WORDS)
    shape, places = model.shape(), model.shape(0, 2)
    depth = rng.randint(1, len(shape))
    like = model.scale(dtype)
    x = model.tensor(shape, dtype, like=like)
    indices = model.indices((*places, depth), shape[:depth], kind)
    y = model.output((*places, *shape[depth:]), dtype, like)
    return model.case([x, indices], [y], dtype)


def _scatter_nd(model: _Glue) -> Case:
    rng, dtype = model.rng, model.rng.choice((*_BYTES, *_WORDS, np.bool_))
    shape, places = model.shape(), model.shape(1, 2)
    depth = rng.randint(1, len(shape))
    like = model.scale(dtype)
    indices = model.indices((*places, depth), shape[:depth], np.int32)
    updates = model.tensor((*places, *shape[depth:]), dtype, like=like)
    y = model.output(shape, dtype, like)
    return model.case([indices, updates, model.constant(shape)], [y], dtype)


def _embedding_lookup(model: _Glue) -> Case:
    dtype = model.rng.choice((np.int8, np.uint8, np.float32))
    shape, count = model.shape(2, 4), model.rng.randint(1, 6)
    like = model.scale(dtype)
    values = model._generator.integers(0, shape[0], (count,)).astype(np.int32)
    lookup = model.tensor((count,), np.int32, values=values)
    rows = model.tensor(shape, dtype, like=like, is_constant=model.rng.random() < 0.7)
    y = model.output((count, *shape[1:]), dtype, like)
    return model.case([lookup, rows], [y], dtype)


def _top(model: _Glue) -> Case:
    rng, dtype = model.rng, model.rng.choice((*_BYTES, np.int16, *_WORDS))
    shape = (*model.shape(0, 2), rng.randint(1, 40))
    count = rng.randint(1, shape[-1])
    like = model.scale(dtype)
    x = model.tensor(shape, dtype, like=like)
    wanted = (*shape[:-1], count)
    outputs = [model.output(wanted, dtype, like), model.output(wanted, np.int32)]
    return model.case([x, model.constant(count)], outputs, dtype)


def _cumulative_sum(model: _Glue) -> Case:
    rng, shape = model.rng, model.shape()
    axis = rng.randrange(len(shape))
    x = model.tensor(shape, np.int8)
    options = {"exclusive": rng.random() < 0.5, "reverse": rng.random() < 0.5}
    y = model.output(shape, np.int8)
    at = model.constant(rng.choice([axis, axis - len(shape)]))
    return model.case([x, at], [y], np.int8, **options)


def _fill(model: _Glue) -> Case:
    dtype, shape = model.rng.choice(_ANY), model.shape()
    if dtype is np.uint8:
        dtype = np.int8
    like = model.scale(dtype)
    dims = model.constant(shape, model.rng.choice(_WORDS))
    value = model.tensor((), dtype, like=like)
    return model.case([dims, value], [model.output(shape, dtype, like)], dtype)


def _of_booleans(model: _Glue) -> Case:
    rng = model.rng
    shape = rng.choice([model.shape(), (20, 9, 8), (4, 16, 16, 2)])
    first = rng.randrange(len(shape))
    axes = list(range(first, rng.randint(first + 1, len(shape))))
    keeps = rng.random() < 0.5
    kept = tuple(
        1 if axis in axes else size for axis, size in enumerate(shape) if keeps or axis not in axes
    )
    chance = rng.choice([0.5, 1 / math.prod(shape), 0.0])
    is_rare = model._generator.random(shape) < chance
    values = ~is_rare if model.operator == "REDUCE_ALL" else is_rare
    x = model.tensor(shape, np.bool_, values=values)
    y = model.output(kept, np.bool_)
    return model.case([x, model.constant(axes)], [y], np.bool_, keepDims=keeps)


_COMPARED = (*_BYTES, *_BYTES, *_WORDS)
OPERATORS: dict[str, Callable[[_Glue], Case]] = {
    **dict.fromkeys(("ADD", "SUB", "MUL", "MINIMUM", "MAXIMUM"), _pair(*_WORDS)),
    **dict.fromkeys(("DIV", "FLOOR_DIV", "FLOOR_MOD"), _pair(np.int32)),
    **dict.fromkeys(("EQUAL", "NOT_EQUAL"), _pair(*_COMPARED, np.bool_, is_comparison=True)),
    **dict.fromkeys(
        ("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"), _pair(*_COMPARED, is_comparison=True)
    ),
    **dict.fromkeys(("LOGICAL_AND", "LOGICAL_OR"), _pair(np.bool_)),
    "LOGICAL_NOT": _single(np.bool_),
    "NEG": _single(*_WORDS),
    "CAST": _cast,
    **dict.fromkeys(("SELECT", "SELECT_V2"), _select),
    "GATHER": _gather,
    "GATHER_ND": _gather_nd,
    "SCATTER_ND": _scatter_nd,
    "EMBEDDING_LOOKUP": _embedding_lookup,
    "TOPK_V2": _top,
    "CUMSUM": _cumulative_sum,
    "FILL": _fill,
    **dict.fromkeys(("REDUCE_ALL", "REDUCE_ANY"), _of_booleans),
}
"""What adds each operator."""
