"""Steps of the CPU beside lists of the engine: which ones move, and that results stay right."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.program import Kernel, Where
from kiwicha.errors import ProgramError
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder

RNG = np.random.default_rng(5)


class Heads:
    """A model with a trunk and heads that read it."""

    def __init__(self) -> None:
        self.builder = ModelBuilder()
        self.image = self.builder.tensor((1, 8, 8, 8), scale=0.5, zero_point=3)
        self.outputs: list[int] = []

    def conv(self, source: int) -> int:
        """Add a 1x1 convolution of 8 channels, which the engine does."""
        data = RNG.integers(-127, 128, (8, 1, 1, 8), np.int8)
        weights = self.builder.tensor(data.shape, scale=0.003, data=data)
        output = self.builder.tensor((1, 8, 8, 8), scale=0.5, zero_point=-4)
        self.builder.operator("CONV_2D", [source, weights], [output], strideH=1, strideW=1)
        return output

    def softmax(self, source: int) -> int:
        """Add a SOFTMAX, which the CPU does."""
        output = self.builder.tensor((1, 8, 8, 8), scale=1 / 256, zero_point=-128)
        self.builder.operator("SOFTMAX", [source], [output], beta=1.0)
        return output

    def build(self, *outputs: int) -> bytes:
        """Return the model."""
        return self.builder.build(inputs=[self.image], outputs=list(outputs))


def two_heads() -> bytes:
    """Give the trunk two heads: a SOFTMAX, and another convolution."""
    heads = Heads()
    trunk = heads.conv(heads.image)
    return heads.build(heads.softmax(trunk), heads.conv(trunk))


def head_of_the_image() -> bytes:
    """Give the CPU a step that comes last and needs nothing that the engine computes."""
    heads = Heads()
    convolved = heads.conv(heads.image)
    return heads.build(convolved, heads.softmax(heads.image))


def one_after_the_other() -> bytes:
    heads = Heads()
    return heads.build(heads.conv(heads.softmax(heads.conv(heads.image))))


def chain_beside() -> bytes:
    """Give the CPU a chain of steps, and one that waits for the engine's second list."""
    heads = Heads()
    trunk = heads.conv(heads.image)
    first = heads.softmax(trunk)
    second = heads.softmax(first)
    convolved = heads.conv(trunk)
    return heads.build(second, heads.softmax(convolved))


def steps_of(program: Program) -> list[tuple[str, int]]:
    """Return E with the number of overlapped steps, or C, for every step."""
    return [
        ("E", step.params.overlapped_steps) if step.kernel is Kernel.ENGINE else ("C", 0)
        for step in program.steps
    ]


@pytest.mark.parametrize(
    ("model", "steps"),
    [
        (two_heads, [("E", 0), ("E", 1), ("C", 0)]),
        (head_of_the_image, [("E", 1), ("C", 0)]),
        (one_after_the_other, [("E", 0), ("C", 0), ("E", 0)]),
        (chain_beside, [("E", 0), ("E", 2), ("C", 0), ("C", 0), ("C", 0)]),
    ],
)
def test_independent_steps_run_beside_the_engine(model: Any, steps: Any) -> None:
    raw = model()
    program = compile_model(raw, "64")
    assert steps_of(program) == steps
    image = RNG.integers(-128, 128, (1, 8, 8, 8), np.int8)
    plain = compile_model(raw, "simd")
    assert all(step.kernel.where is not Where.ENGINE for step in plain.steps)
    for got, wanted in zip(
        reference.run(program, [image]), reference.run(plain, [image]), strict=True
    ):
        assert np.array_equal(got, wanted)
        assert wanted.any()


def with_step(program: Program, number: int, **changes: Any) -> Program:
    steps = list(program.steps)
    params = dataclasses.replace(steps[number].params, **changes)
    steps[number] = dataclasses.replace(steps[number], params=params)
    return dataclasses.replace(program, steps=tuple(steps))


def test_the_reference_refuses_steps_that_touch_what_the_engine_uses() -> None:
    image = np.zeros((1, 8, 8, 8), np.int8)
    program = compile_model(two_heads(), "64")
    for number, name in ((0, "must be one of the CPU"), (1, "2 overlapped steps must exist")):
        broken = with_step(program, number, overlapped_steps=2)
        with pytest.raises(ProgramError, match=name):
            reference.run(broken, [image])
    trunk = program.steps[2].params.input
    for broken in (
        with_step(program, 2, output=trunk),
        with_step(program, 2, input=program.outputs[1].ref),
    ):
        with pytest.raises(ProgramError, match="must not be what the engine uses"):
            reference.run(broken, [image])


def test_a_call_beside_the_engine_leaves_what_the_engine_reads() -> None:
    """The last reader of a tensor may write in its place, but not while the engine loads it."""
    heads = Heads()
    convolved = heads.conv(heads.image)
    leaks = heads.builder.tensor((1, 8, 8, 8), scale=0.5, zero_point=3)
    # A constant with computed factors is for the CPU.
    data = RNG.integers(-128, 128, (1, 8, 8, 8), np.int8)
    constant = heads.builder.tensor(data.shape, scale=0.05, zero_point=3, data=data)
    heads.builder.operator("PRELU", [constant, heads.image], [leaks])
    model = heads.builder.build([heads.image], [convolved, leaks])
    program = compile_model(model, "64")
    engine, call = program.steps
    assert engine.params.overlapped_steps == 1
    assert call.kernel is Kernel.PRELU
    images = [RNG.integers(-128, 128, (1, 8, 8, 8), np.int8)]
    expected = reference.run(compile_model(model, "simd"), images)
    for got, wanted in zip(reference.run(program, images), expected, strict=True):
        assert np.array_equal(got, wanted)
