"""LOG_SOFTMAX of every scale that interpreters take, against them."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SCALES = [3.1e-8, 1e-7, 1e-5, 0.001, 0.03, 0.062, 0.12, 0.5, 1.0, 7.9, 15.5, 31.0, 33.0, 1e3, 1e30]


def case(scale: float, depth: int, *, is_unsigned: bool) -> oracle.Case:
    """Return rows of that depth: of any numbers, of near ones, and of equal ones."""
    rng = np.random.default_rng(depth)
    x = rng.integers(-128, 128, (3, depth))
    x[1] = rng.integers(-3, 4, depth)
    x[2] = 100
    kind, shift = (np.uint8, 128) if is_unsigned else (np.int8, 0)
    builder = ModelBuilder()
    source = builder.tensor(x.shape, kind, scale=scale, zero_point=shift + 4)
    output = builder.tensor(x.shape, kind, scale=1 / 16, zero_point=shift + 127)
    builder.operator("LOG_SOFTMAX", [source], [output])
    return oracle.Case(builder.build([source], [output]), ((x + shift).astype(kind),))


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8", "uint8"])
@pytest.mark.parametrize("config", ["64", "64-softmax"])
def test_every_scale(config: str, is_unsigned: bool) -> None:
    cases = [case(s, depth, is_unsigned=is_unsigned) for s in SCALES for depth in (2, 41, 700)]
    answers = oracle.ask(cases, oracle.LITERT if is_unsigned else oracle.MICRO)
    for given, answer in zip(cases, answers, strict=True):
        assert answer.outputs is not None, answer.error
        (output,) = reference.run(compile_model(given.model, config), given.inputs)
        assert output.dtype == answer.outputs[0].dtype
        np.testing.assert_array_equal(output, answer.outputs[0])
