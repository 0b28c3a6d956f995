"""Where the interpreters differ: int8 follows TensorFlow Lite Micro, uint8 LiteRT 1.2.0.

Scales are such that results lie on a tie where the product or ratio of scales is in float32, and
beside it in double, or the other way round: which of the two was taken shows in most of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SEEDS = 40
SHAPE = (1, 16, 16, 1)
Make = Callable[[ModelBuilder, Any, np.random.Generator], tuple[list[int], list[int]]]


def _scale(rng: np.random.Generator) -> np.float32:
    return np.float32(10 ** rng.uniform(-3, 0.5))


def _tensor(builder: ModelBuilder, shape: Any, dtype: Any, scale: Any, zero_point: int) -> int:
    shift = 128 if dtype is np.uint8 else 0
    return builder.tensor(shape, dtype, scale=float(scale), zero_point=zero_point + shift)


def weighted(operator: str) -> Make:
    """Give results that are half the input: the product of two scales over the output's."""

    def make(builder: ModelBuilder, dtype: Any, rng: np.random.Generator) -> Any:
        is_dense = operator == "FULLY_CONNECTED"
        shape = (256, 1) if is_dense else SHAPE
        scale, weight = _scale(rng), _scale(rng)
        single = np.float32(scale * weight)
        x = _tensor(builder, shape, dtype, scale, 0)
        kernel = (1, 1) if is_dense else (1, 1, 1, 1)
        zero = 128 if dtype is np.uint8 else 0
        data = np.full(kernel, zero + 1, dtype)
        w = builder.tensor(kernel, dtype, scale=float(weight), zero_point=zero, data=data)
        bias = builder.tensor((1,), np.int32, scale=float(single), data=np.zeros(1, np.int32))
        y = _tensor(builder, shape, dtype, np.float32(2 * single), 0)
        window = {} if is_dense else {"padding": 1, "strideH": 1, "strideW": 1}
        builder.operator(operator, [x, w, bias], [y], **window)
        return [x], [y]

    return make


def pair(operator: str) -> Make:
    """Give results of which the second operand is nothing: a ratio of scales."""

    def make(builder: ModelBuilder, dtype: Any, rng: np.random.Generator) -> Any:
        scale = _scale(rng)
        output = np.float32(float(scale) / float(rng.choice([1.5, 2.5, 0.5])))
        x, zero = (_tensor(builder, SHAPE, dtype, scale, 0) for _ in range(2))
        y = _tensor(builder, SHAPE, dtype, output, 0)
        builder.operator(operator, [x, zero], [y])
        return [x, zero], [y]

    return make


def unary(operator: str, alpha: float | None = None) -> Make:
    """Give results that are a multiple of the input: a ratio of scales."""

    def make(builder: ModelBuilder, dtype: Any, rng: np.random.Generator) -> Any:
        scale = _scale(rng)
        ratio = float(rng.choice([1.5, 2.5, 3.5, 0.5]))
        if operator == "HARD_SWISH":
            # Ties of the 15 bits that are kept of a multiplier.
            ratio = 128 * (int(rng.integers(2**14, 2**15)) + 0.5) / 2 ** int(rng.integers(15, 21))
        x = _tensor(builder, SHAPE, dtype, scale, 0 if operator == "HARD_SWISH" else 40)
        y = _tensor(builder, SHAPE, dtype, np.float32(float(scale) / ratio), -100)
        builder.operator(operator, [x], [y], **({} if alpha is None else {"alpha": alpha}))
        return [x], [y]

    return make


def curve(operator: str) -> Make:
    """Give a function of large numbers: input scales of several units."""

    def make(builder: ModelBuilder, dtype: Any, rng: np.random.Generator) -> Any:
        scale = 1 / 256 if operator == "LOGISTIC" else 1 / 128
        x = _tensor(builder, SHAPE, dtype, np.float32(rng.uniform(2, 9)), int(rng.integers(-9, 9)))
        y = _tensor(builder, SHAPE, dtype, scale, -128 if operator == "LOGISTIC" else 0)
        builder.operator(operator, [x], [y])
        return [x], [y]

    return make


ROWS: dict[str, tuple[Make, bool, bool]] = {
    "FULLY_CONNECTED": (weighted("FULLY_CONNECTED"), True, True),
    "CONV_2D": (weighted("CONV_2D"), False, True),
    "SUB": (pair("SUB"), False, False),
    "ADD": (pair("ADD"), False, False),
    "HARD_SWISH": (unary("HARD_SWISH"), True, True),
    "LEAKY_RELU": (unary("LEAKY_RELU", 0.125), True, True),
    "LEAKY_RELU of negative alpha": (unary("LEAKY_RELU", -0.75), True, True),
    "QUANTIZE": (unary("QUANTIZE"), False, False),
    "RELU": (unary("RELU"), True, True),
    "LOGISTIC": (curve("LOGISTIC"), True, True),
    "TANH": (curve("TANH"), True, True),
}
"""How models are made, whether the interpreters differ on those of int8, and whether results of
uint8 are others than those of int8."""


def cases(make: Make, dtype: Any) -> list[oracle.Case]:
    made = []
    for seed in range(SEEDS):
        builder = ModelBuilder()
        inputs, outputs = make(builder, dtype, np.random.default_rng(seed))
        values = (np.arange(256) + np.iinfo(dtype).min).astype(dtype)
        shape = builder.tensors[inputs[0]].shape
        nothing = np.full(shape, 128 if dtype is np.uint8 else 0, dtype)
        arrays = (values.reshape(shape), *(nothing for _ in inputs[1:]))
        made.append(oracle.Case(builder.build(inputs, outputs), arrays))
    return made


def outputs(answers: list[oracle.Answer]) -> list[np.ndarray]:
    given = []
    for answer in answers:
        assert answer.outputs is not None, answer.error
        given.append(answer.outputs[0])
    return given


def ours(made: list[oracle.Case]) -> list[np.ndarray]:
    return [reference.run(compile_model(c.model, "baseline"), c.inputs)[0] for c in made]


@pytest.mark.parametrize("row", ROWS)
def test_int8_is_as_in_micro(row: str) -> None:
    make, differs, _ = ROWS[row]
    made = cases(make, np.int8)
    micro, litert = (outputs(oracle.ask(made, which)) for which in (oracle.MICRO, oracle.LITERT))
    for got, expected in zip(ours(made), micro, strict=True):
        np.testing.assert_array_equal(got, expected)
    unequal = sum(not np.array_equal(a, b) for a, b in zip(micro, litert, strict=True))
    assert bool(unequal) is differs, unequal


@pytest.mark.parametrize("row", ROWS)
def test_uint8_is_as_in_litert(row: str) -> None:
    make, _, differs = ROWS[row]
    made = cases(make, np.uint8)
    given = ours(made)
    for got, expected in zip(given, outputs(oracle.ask(made, oracle.LITERT)), strict=True):
        np.testing.assert_array_equal(got, expected)
    signed = [values.astype(int) + 128 for values in ours(cases(make, np.int8))]
    unequal = sum(not np.array_equal(a, b) for a, b in zip(given, signed, strict=True))
    assert bool(unequal) is differs, unequal
