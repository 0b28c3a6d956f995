"""DIV of bytes by a constant, against TensorFlow Lite Micro, for every byte."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model, read, violations
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle
from tests.support.oracle.oracle import Case

ALL = np.arange(-128, 128).astype(np.int8).reshape(1, 4, 64)


def division(seed: int) -> Case:
    """Give a DIV of any scales and zero points, with quotients over most of the range."""
    rng = random.Random(seed)
    builder = ModelBuilder("quotients")
    scales = [10 ** rng.uniform(-3, 0) for _ in range(2)]
    zero = rng.randint(-128, 127)
    divisor = rng.choice([value for value in range(-128, 128) if value != zero])
    x = builder.tensor(ALL.shape, scale=scales[0], zero_point=rng.randint(-128, 127))
    shape = rng.choice([(), (1,), (1, 1)])
    data = np.full(shape, divisor, np.int8)
    y = builder.tensor(shape, scale=scales[1], zero_point=zero, data=data)
    ratio = scales[0] / (scales[1] * abs(divisor - zero))
    scale = ratio * 10 ** rng.uniform(-0.7, 0.3)
    z = builder.tensor(ALL.shape, scale=scale, zero_point=rng.randint(-128, 127))
    builder.operator("DIV", [x, y], [z], fusedActivationFunction=rng.choice([0, 0, 1]))
    return Case(builder.build([x], [z]), (ALL,))


@pytest.mark.parametrize("config", ["simd", "64"])
def test_all_bytes(config: str) -> None:
    cases = [case for case in map(division, range(80)) if not violations(read(case.model))]
    assert len(cases) > 60
    values = set()
    for case, answer in zip(cases, oracle.ask(cases, oracle.MICRO), strict=True):
        assert answer.outputs is not None, answer.error
        program = Program.from_bytes(compile_model(case.model, config).to_bytes())
        (found,) = reference.run(program, case.inputs)
        np.testing.assert_array_equal(found, answer.outputs[0])
        values |= {int(value) for value in found.flat}
    assert len(values) == 256
