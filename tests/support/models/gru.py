"""GRUs as converters write them: one operator for each sum, product and function of each step."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.models.control_flow import joined
from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["Gru", "gru"]

_GATE: dict[str, Any] = {"scale": 1 / 256, "zero_point": -128}
_INNER: dict[str, Any] = {"scale": 1 / 128}
_GATES = 3


@dataclass(frozen=True)
class Gru:
    """A model, and the shape of its only input, [batches, steps, features]."""

    model: bytes
    shape: tuple[int, ...]


class _Layer:
    """The numbers of a layer whose reset gate comes after the product, the default of Keras.

    Parameters
    ----------
    rng : random.Random
        Of which they come.
    """

    def __init__(self, rng: random.Random) -> None:
        numbers = np.random.default_rng(rng.randrange(2**32))
        self.batches = rng.choice([1, 1, 1, 2])
        self.steps = rng.randint(1, 6)
        self.features, self.units = rng.choice([1, 4, 8, 10]), rng.choice([4, 8, 5, 16])
        self.source: dict[str, Any] = {
            "scale": rng.uniform(0.005, 0.03),
            "zero_point": rng.randint(-128, 127),
        }
        self.hidden: dict[str, Any] = {
            "scale": rng.choice([1 / 128, 0.0075]),
            "zero_point": rng.choice([0, 3, -9]),
        }
        self.sum: dict[str, Any] = {
            "scale": rng.uniform(0.02, 0.06),
            "zero_point": rng.randint(-20, 20),
        }
        self.part: dict[str, Any] = {
            "scale": rng.uniform(0.015, 0.05),
            "zero_point": rng.randint(-20, 20),
        }
        self.scales = rng.uniform(0.002, 0.01), rng.uniform(0.002, 0.01)
        self.kernels = [
            numbers.integers(-127, 128, (_GATES * self.units, size)).astype(np.int8)
            for size in (self.features, self.units)
        ]
        self.biases = [
            numbers.integers(-2000, 2000, _GATES * self.units).astype(np.int32) for _ in range(2)
        ]

    def step(self, part: ModelBuilder, x: int, state: int) -> int:
        """Add a step of an input and the state, and return the state behind it."""
        row = (self.batches, self.units)

        def add(name: str, inputs: Sequence[int], quantization: dict[str, Any]) -> int:
            output = part.tensor(row, **quantization)
            part.operator(name, list(inputs), [output])
            return output

        def products(source: int, number: int, scale: float) -> list[int]:
            kernel, bias = self.kernels[number], self.biases[number]
            weights = part.tensor(kernel.shape, data=kernel, scale=self.scales[number])
            biases = part.tensor(bias.shape, np.int32, data=bias, scale=scale * self.scales[number])
            joint = part.tensor((self.batches, _GATES * self.units), **self.part)
            part.operator("FULLY_CONNECTED", [source, weights, biases], [joint])
            gates = [part.tensor(row, **self.part) for _ in range(_GATES)]
            axis = part.tensor((), np.int32, data=np.array(1, np.int32))
            part.operator("SPLIT", [axis, joint], gates, numSplits=_GATES)
            return gates

        inner = products(x, 0, self.source["scale"])
        outer = products(state, 1, self.hidden["scale"])
        update, reset = (
            add("LOGISTIC", [add("ADD", [a, b], self.sum)], _GATE)
            for a, b in zip(inner[:2], outer[:2], strict=True)
        )
        kept = add("MUL", [reset, outer[2]], self.part)
        new = add("TANH", [add("ADD", [inner[2], kept], self.sum)], _INNER)
        one = part.tensor((1, 1), data=np.array([[127]], np.int8), **_GATE)
        rest = add("SUB", [one, update], _GATE)
        old = add("MUL", [update, state], self.hidden)
        return add("ADD", [add("MUL", [rest, new], self.hidden), old], self.hidden)

    def first_state(self, part: ModelBuilder) -> int:
        """Add zeros."""
        row = (self.batches, self.units)
        zeros = np.full(row, self.hidden["zero_point"], np.int8)
        return part.tensor(row, data=zeros, **self.hidden)

    def steps_first(self, part: ModelBuilder) -> tuple[int, int]:
        """Add the input, and what it is with steps as the first dimension."""
        x = part.tensor((self.batches, self.steps, self.features), **self.source)
        turned = part.tensor((self.steps, self.batches, self.features), **self.source)
        order = part.tensor((3,), np.int32, data=np.array([1, 0, 2], np.int32))
        part.operator("TRANSPOSE", [x, order], [turned])
        return x, turned

    def looping(self) -> bytes:
        """Give the model with a WHILE, whose output is the last state."""

        def given(part: ModelBuilder) -> list[int]:
            count = part.tensor((), np.int32)
            x = part.tensor((self.steps, self.batches, self.features), **self.source)
            return [count, x, part.tensor((self.batches, self.units), **self.hidden)]

        def number(part: ModelBuilder, value: int) -> int:
            return part.tensor((), np.int32, data=np.array(value, np.int32))

        condition = ModelBuilder("condition")
        inputs = given(condition)
        goes_on = condition.tensor((), np.bool_)
        condition.operator("LESS", [inputs[0], number(condition, self.steps)], [goes_on])
        body = ModelBuilder("body")
        count, x, state = rows = given(body)
        now = body.tensor((self.batches, self.features), **self.source)
        body.operator("GATHER", [x, count], [now], axis=0)
        after = self.step(body, now, state)
        following = body.tensor((), np.int32)
        body.operator("ADD", [count, number(body, 1)], [following])
        main = ModelBuilder("GRU")
        source, turned = self.steps_first(main)
        starts = [number(main, 0), turned, self.first_state(main)]
        ends = given(main)
        main.operator("WHILE", starts, ends, condSubgraphIndex=1, bodySubgraphIndex=2)
        others = [condition.build(inputs, [goes_on]), body.build(rows, [following, x, after])]
        return joined(main.build([source], [ends[2]]), others)

    def unrolled(self) -> bytes:
        """Give the model step by step, whose output are the states behind all of them."""
        main = ModelBuilder("GRU")
        source, turned = self.steps_first(main)
        rows = [
            main.tensor((self.batches, self.features), **self.source) for _ in range(self.steps)
        ]
        main.operator("UNPACK", [turned], rows, num=self.steps, axis=0)
        states = [self.first_state(main)]
        for row in rows:
            states.append(self.step(main, row, states[-1]))
        output = main.tensor((self.batches, self.steps, self.units), **self.hidden)
        main.operator("PACK", states[1:], [output], valuesCount=self.steps, axis=1)
        return main.build([source], [output])


def gru(rng: random.Random, *, has_loop: bool) -> Gru:
    """Return a model of a GRU.

    Parameters
    ----------
    rng : random.Random
        Of which its numbers come.
    has_loop : bool
        It has a WHILE; else it is unrolled.
    """
    layer = _Layer(rng)
    model = layer.looping() if has_loop else layer.unrolled()
    return Gru(model, (layer.batches, layer.steps, layer.features))
