"""Whole GRUs against TensorFlow Lite Micro, as loops and step by step."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models.gru import gru
from tests.support.oracle import oracle

BLOCK = 2


@pytest.mark.parametrize("first", by_day(*range(0, 20 * BLOCK, BLOCK)))
@pytest.mark.parametrize("has_loop", [False, True])
def test_random_layers(first: int, *, has_loop: bool) -> None:
    models = [gru(random.Random(f"gru{first + k}"), has_loop=has_loop) for k in range(BLOCK)]
    rng = np.random.default_rng(first)
    cases = [
        oracle.Case(item.model, (rng.integers(-128, 128, item.shape).astype(np.int8),))
        for item in models
    ]
    values: set[int] = set()
    for number, (case, answer) in enumerate(
        zip(cases, oracle.ask(cases, oracle.MICRO), strict=True)
    ):
        assert answer.outputs is not None, answer.error
        values |= set(answer.outputs[0].flat)
        for config in ("baseline", "simd", "64"):
            program = Program.from_bytes(compile_model(case.model, config).to_bytes())
            (found,) = reference.run(program, case.inputs)
            assert np.array_equal(found, answer.outputs[0]), (first + number, config)
    # Not only extremes.
    assert len(values) > 5 * BLOCK
