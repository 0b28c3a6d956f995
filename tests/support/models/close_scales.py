"""uint8 models of one operator whose scales make many exact halves, or nearly so.

There it shows how each product and quotient of scales is rounded: a ratio of 0.5 and the next
float32 above it give other results for every odd number.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.oracle import Case

__all__ = ["OPERATORS", "close_model"]

SHAPE = (1, 16, 16, 1)
Parameters = tuple[float, int]


def close_model(operator: str, seed: int) -> Case:
    """Return a model and its inputs, always the same for one seed."""
    return OPERATORS[operator](random.Random(f"close{operator}{seed}"))


def _build(
    code: str,
    inputs: Sequence[Parameters],
    output: Parameters,
    constants: Callable[[ModelBuilder], list[int]] = lambda builder: [],
    output_shape: tuple[int, ...] = SHAPE,
    **options: Any,
) -> Case:
    builder = ModelBuilder()
    operands = [builder.tensor(SHAPE, np.uint8, scale=s, zero_point=z) for s, z in inputs]
    y = builder.tensor(output_shape, np.uint8, scale=output[0], zero_point=output[1])
    builder.operator(code, operands + constants(builder), [y], **options)
    generator = np.random.default_rng(0)
    values = [np.arange(256, dtype=np.uint8)]
    values += [generator.permutation(256).astype(np.uint8) for _ in inputs[1:]]
    return Case(builder.build(operands, [y]), tuple(v.reshape(SHAPE) for v in values))


def _scale(rng: random.Random) -> float:
    return float(np.float32(10 ** rng.uniform(-2, 0)))


def _near(rng: random.Random, value: float) -> float:
    """Give a float32 next to a value or one beside it."""
    return float(np.float32(value * (1 + rng.choice([0, 6e-8, -6e-8]))))


def _point(rng: random.Random) -> int:
    return rng.randint(0, 255)


def _pair(code: str) -> Callable[[random.Random], Case]:
    def build(rng: random.Random) -> Case:
        first = _scale(rng)
        second = _near(rng, first * rng.choice([1, 0.5, 2]))
        output = _near(rng, first * rng.choice([1, 2, 4]))
        inputs = [(first, _point(rng)), (second, _point(rng))]
        return _build(code, inputs, (output, _point(rng)))

    return build


def _product(rng: random.Random) -> Case:
    first, second = _scale(rng), _scale(rng)
    output = float(np.float32(first * second * rng.choice([2, 4, 8, 16, 32])))
    return _build("MUL", [(first, _point(rng)), (second, _point(rng))], (output, _point(rng)))


def _unary(code: str, **choices: Sequence[float]) -> Callable[[random.Random], Case]:
    def build(rng: random.Random) -> Case:
        scale = _scale(rng)
        output = _near(rng, scale * rng.choice([1, 2, 4, 2 / 3]))
        options = {name: rng.choice(values) for name, values in choices.items()}
        return _build(code, [(scale, _point(rng))], (output, _point(rng)), **options)

    return build


def _prelu(rng: random.Random) -> Case:
    scale = _scale(rng)
    alpha = np.arange(250, 251, dtype=np.uint8).reshape(1, 1, 1)
    quantization = {"scale": rng.choice([0.5, 0.25]), "zero_point": rng.choice([249, 252])}

    def constants(builder: ModelBuilder) -> list[int]:
        return [builder.tensor(alpha.shape, np.uint8, data=alpha, **quantization)]

    output = _near(rng, scale * rng.choice([1, 2, 4]))
    return _build("PRELU", [(scale, _point(rng))], (output, _point(rng)), constants)


def _reduction(code: str, factors: Sequence[float]) -> Callable[[random.Random], Case]:
    def build(rng: random.Random) -> Case:
        scale = _scale(rng)
        axes = rng.choice([[1], [1, 2], [2]])
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(SHAPE))

        def constants(builder: ModelBuilder) -> list[int]:
            return [builder.tensor((len(axes),), np.int32, data=np.array(axes, np.int32))]

        source = scale, _point(rng)
        output = _near(rng, scale * rng.choice(factors)), _point(rng)
        # Equal scales and zero points are a case of their own in the interpreter.
        target = source if rng.random() < 0.3 else output
        return _build(code, [source], target, constants, shape, keepDims=True)

    return build


def _function(code: str, output: Parameters) -> Callable[[random.Random], Case]:
    return lambda rng: _build(code, [(10 ** rng.uniform(-3, 1), _point(rng))], output)


def _pool(rng: random.Random) -> Case:
    both = _scale(rng), _point(rng)
    size = rng.choice([1, 2, 3, 4, 5, 16])
    kernel = {"filterHeight": size, "filterWidth": rng.choice([1, 2, 3])}
    return _build("AVERAGE_POOL_2D", [both], both, strideH=1, strideW=1, padding=0, **kernel)


OPERATORS: dict[str, Callable[[random.Random], Case]] = {
    "ADD": _pair("ADD"),
    "SUB": _pair("SUB"),
    "MUL": _product,
    "RELU": _unary("RELU"),
    "QUANTIZE": _unary("QUANTIZE"),
    "LEAKY_RELU": _unary("LEAKY_RELU", alpha=[0.5, 1.5, -0.5, -1.5]),
    "HARD_SWISH": _unary("HARD_SWISH"),
    "PRELU": _prelu,
    "MEAN": _reduction("MEAN", [1, 2, 4, 2 / 3]),
    "SUM": _reduction("SUM", [16, 32, 64]),
    "LOGISTIC": _function("LOGISTIC", (1 / 256, 0)),
    "TANH": _function("TANH", (1 / 128, 128)),
    "AVERAGE_POOL_2D": _pool,
}
"""Operators whose arithmetic for uint8 is not everywhere that for int8, or could be."""
