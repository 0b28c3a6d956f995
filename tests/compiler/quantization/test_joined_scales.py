"""CONCATENATION of several scales, as LiteRT's reference kernels join uint8 tensors."""

import random
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.numerics.float_edges import rescaled
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

Shape = tuple[int, ...]


def joining(
    shapes: list[Shape], scales: list[tuple[float, int]], axis: int, dtype: Any, shift: int
) -> bytes:
    """Return a CONCATENATION; the last scale and zero point are the output's."""
    builder = ModelBuilder()
    xs = [
        builder.tensor(shape, dtype, scale=scale, zero_point=zero_point + shift)
        for shape, (scale, zero_point) in zip(shapes, scales, strict=False)
    ]
    joined = list(shapes[0])
    joined[axis] = sum(shape[axis] for shape in shapes)
    scale, zero_point = scales[-1]
    y = builder.tensor(joined, dtype, scale=scale, zero_point=zero_point + shift)
    builder.operator("CONCATENATION", xs, [y], axis=axis)
    return builder.build(xs, [y])


@pytest.mark.parametrize("seed", range(20))
def test_joins_as_litert_joins_uint8(seed: int) -> None:
    rng = random.Random(seed)
    shape = [rng.randint(1, 3) for _ in range(rng.randint(1, 4))]
    axis = rng.randrange(len(shape))
    shape[-1] = 256
    shapes = []
    for _ in range(rng.randint(1, 4)):
        shapes.append(list(shape))
        shapes[-1][axis] = rng.randint(1, 3) if axis < len(shape) - 1 else 256
    whole = [tuple(item) for item in shapes]
    scales = [
        (float(np.float32(10 ** rng.uniform(-2, 0.5))), rng.randint(-128, 127)) for _ in shapes
    ]
    scales.append(rng.choice([*scales, (0.37, -5)]))
    generator = np.random.default_rng(seed)
    inputs = [generator.permutation(np.resize(np.arange(256), item)) for item in whole]
    bytes_in = [values.astype(np.uint8) for values in inputs]
    unsigned = joining(whole, scales, axis, np.uint8, 128)
    (answer,) = oracle.ask([oracle.Case(unsigned, tuple(bytes_in))], oracle.LITERT)
    assert answer.outputs is not None, answer.error
    (expected,) = answer.outputs
    (same,) = reference.run(compile_model(unsigned, "simd"), bytes_in)
    np.testing.assert_array_equal(same, expected)
    program = compile_model(joining(whole, scales, axis, np.int8, 0), "simd")
    (got,) = reference.run(program, [(values ^ 128).view(np.int8) for values in bytes_in])
    np.testing.assert_array_equal(got.view(np.uint8) ^ 128, expected)


@pytest.mark.parametrize(("axis", "kernels"), [(0, ["LOOKUP"]), (1, ["LOOKUP", "COPY", "COPY"])])
def test_rescales_straight_into_the_output(axis: int, kernels: list[str]) -> None:
    """Along the outermost dimension, the input with the output's scale even lies there."""
    model = joining([(16, 16)] * 2, [(0.5, 3), (0.25, 3), (0.25, 3)], axis, np.int8, 0)
    program = compile_model(model, "simd")
    assert [step.kernel.name for step in program.steps] == kernels


def test_tables_saturate() -> None:
    table = rescaled((1.0e30, 0), (1.0, 5))
    assert (set(table[:1]), set(table[1:128]), set(table[128:])) == ({5}, {127}, {-128})
