"""Moves that TensorFlow Lite Micro does not know, or not so, against LiteRT's reference kernels."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_moves
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

Shape = tuple[int, ...]


def move(
    code: str, x: Shape, y: Shape, *parameters: Any, dtype: Any = np.int8, **options: Any
) -> bytes:
    """Return a model of one operator; its parameters are int32 where they are no arrays."""
    builder = ModelBuilder()
    quantized = {} if dtype is not np.int8 else {"scale": 0.5, "zero_point": -7}
    operands = [builder.tensor(x, dtype, **quantized)]
    for values in parameters:
        array = values if isinstance(values, np.ndarray) else np.array(values, np.int32)
        operands.append(builder.tensor(array.shape, array.dtype, data=array))
    output = builder.tensor(y, dtype, **quantized)
    builder.operator(code, operands, [output], **options)
    return builder.build(operands[:1], [output])


def values_of(shape: Shape, dtype: Any = np.int8) -> Any:
    generator = np.random.default_rng(0)
    if dtype is np.float32:
        return generator.normal(size=shape).astype(np.float32)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)


WIDE, TURNED = (2, 3, 4), (4, 2, 3)
SLICE = ([0, 0, 1, 0], [0, 2, 3, 4], [1, 1, 1, 1])
CASES: dict[str, tuple[bytes, Any]] = {
    # TensorFlow Lite Micro pads with whatever was in memory.
    "padded batches": (
        move("SPACE_TO_BATCH_ND", (2, 5, 4, 3), (12, 3, 4, 3), [2, 3], [[1, 0], [3, 5]]),
        values_of((2, 5, 4, 3)),
    ),
    "empty phases": (
        move("SPACE_TO_BATCH_ND", (1, 1, 2, 3), (9, 2, 1, 3), [3, 3], [[4, 1], [0, 1]]),
        values_of((1, 1, 2, 3)),
    ),
    "padded rows": (
        move("SPACE_TO_BATCH_ND", (1, 3, 2), (2, 3, 2), [2], [[2, 1]]),
        values_of((1, 3, 2)),
    ),
    # It has no masks for new dimensions and ellipses.
    "new dimension": (
        move("STRIDED_SLICE", WIDE, (1, 2, 2, 4), *SLICE, newAxisMask=1),
        values_of(WIDE),
    ),
    "ellipsis": (
        move("STRIDED_SLICE", WIDE, (2, 3, 2), [0, 0], [0, 4], [1, 2], ellipsisMask=1),
        values_of(WIDE),
    ),
    "ellipsis, new and dropped": (
        move(
            "STRIDED_SLICE",
            WIDE,
            (2, 3, 1),
            [0, 0, 2],
            [0, 0, 3],
            [1, 1, 1],
            ellipsisMask=1,
            newAxisMask=2,
            shrinkAxisMask=4,
        ),
        values_of(WIDE),
    ),
    # It carries other types only in some operators.
    "int32": (
        move("TRANSPOSE", WIDE, TURNED, [2, 0, 1], dtype=np.int32),
        values_of(WIDE, np.int32),
    ),
    "float32": (
        move("TRANSPOSE", WIDE, TURNED, [2, 0, 1], dtype=np.float32),
        values_of(WIDE, np.float32),
    ),
    # It has no TILE.
    "more dimensions than a copy has loops": (
        move("TILE", (2, 2, 3, 2), (4, 6, 6, 4), [2, 3, 2, 2]),
        values_of((2, 2, 3, 2)),
    ),
    "one number": (move("TILE", (1, 1), (3, 5), [3, 5]), values_of((1, 1))),
    "int64 multiples": (
        move("TILE", WIDE, (2, 6, 4), np.array([1, 2, 1], np.int64)),
        values_of(WIDE),
    ),
    "once": (move("TILE", WIDE, WIDE, [1, 1, 1]), values_of(WIDE)),
    "float32 padding": (
        move("PAD", (2, 3), (3, 5), [[0, 1], [2, 0]], dtype=np.float32),
        values_of((2, 3), np.float32),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_moves(name: str) -> None:
    model, values = CASES[name]
    (answer,) = oracle.ask([oracle.Case(model, (values,))], oracle.LITERT)
    assert answer.outputs is not None, answer.error
    (got,) = reference.run(compile_model(model, "simd"), [values])
    np.testing.assert_array_equal(got, answer.outputs[0])
    assert got.dtype == values.dtype


def check_tiles(first: int, count: int) -> None:
    cases = [random_moves.tile(seed) for seed in range(first, first + count)]
    answers = oracle.ask(cases, oracle.LITERT)
    for seed, (case, answer) in enumerate(zip(cases, answers, strict=True), first):
        assert answer.outputs is not None, answer.error
        (got,) = reference.run(compile_model(case.model, "simd"), case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0], err_msg=f"seed {seed}")


def test_random_tiles() -> None:
    check_tiles(0, 40)


@pytest.mark.parametrize("config", ["simd", "64"])
def test_upsampling_between_sums(config: str) -> None:
    cases = [random_moves.upsampling(seed) for seed in range(5)]
    for case, answer in zip(cases, oracle.ask(cases, oracle.LITERT), strict=True):
        assert answer.outputs is not None, answer.error
        (got,) = reference.run(compile_model(case.model, config), case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0])


@pytest.mark.nightly
def test_many_random_tiles() -> None:
    check_tiles(40, 1000)
