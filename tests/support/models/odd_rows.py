"""Models of tensors whose rows are few and long, or of odd numbers of bytes.

They are large beside an engine's scratchpad: their rows are no stripes that fit.
"""

import random
from collections.abc import Callable

import numpy as np

from tests.support.models.random_layers import RandomModel
from tests.support.models.random_tensors import Shape
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.oracle import Case

__all__ = ["ELEMENTWISE", "conversions", "elementwise"]

_PAIRS = ("ADD", "MUL", "SUB", "SQUARED_DIFFERENCE")


def _pair(operator: str) -> Callable[[RandomModel, Shape], int]:
    return lambda model, shape: model.elementwise(operator, model.input(shape), model.input(shape))


def _with_constant(operator: str) -> Callable[[RandomModel, Shape], int]:
    def made(model: RandomModel, shape: Shape) -> int:
        operands = [model.input(shape), model.constant(shape[-1:])]
        if operator != "PRELU":
            model.rng.shuffle(operands)
            return model.elementwise(operator, *operands)
        return model.prelu(operands[0], shape[-1:])

    return made


def _chain(model: RandomModel, shape: Shape) -> int:
    first = model.input(shape)
    total = model.elementwise("ADD", first, model.input(shape))
    return model.unary("HARD_SWISH", model.elementwise("MUL", total, first))


ELEMENTWISE: dict[str, Callable[[RandomModel, Shape], int]] = {
    **{operator: _pair(operator) for operator in _PAIRS},
    **{f"{name} with a constant": _with_constant(name) for name in (*_PAIRS, "PRELU")},
    "MAXIMUM": lambda model, shape: model.compare("MAXIMUM", model.input(shape), shape),
    "RELU6": lambda model, shape: model.unary("RELU6", model.input(shape)),
    "LEAKY_RELU": lambda model, shape: model.unary("LEAKY_RELU", model.input(shape)),
    "chain": _chain,
}
"""What a model of a shape consists of."""


def elementwise(kind: str, shape: Shape, *, is_unsigned: bool = False) -> Case:
    """Return a model of one of `ELEMENTWISE`, and its inputs."""
    rng = random.Random(f"{kind}{shape}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    ELEMENTWISE[kind](model, shape)
    return model.case()


def conversions(shape: Shape, *, has_sum: bool) -> Case:
    """Return a model from float32 to float32, with a sum in between or without, and its inputs."""
    rng = np.random.default_rng([*shape])
    builder = ModelBuilder()
    inputs = [builder.tensor(shape, np.float32) for _ in range(1 + has_sum)]
    steps = [rng.integers(-300, 300, shape) / 2 for _ in inputs]
    quantized = [builder.tensor(shape, scale=0.05 + 0.01 * k, zero_point=k) for k in range(2)]
    for source, output in zip(inputs, quantized, strict=False):
        builder.operator("QUANTIZE", [source], [output])
    last = quantized[0]
    if has_sum:
        last = builder.tensor(shape, scale=0.11, zero_point=-7)
        builder.operator("ADD", quantized, [last], fusedActivationFunction=0)
    output = builder.tensor(shape, np.float32)
    builder.operator("DEQUANTIZE", [last], [output])
    values = tuple((step * 0.05).astype(np.float32) for step in steps)
    return Case(builder.build(inputs, [output]), values)
