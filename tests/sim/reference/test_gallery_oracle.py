"""Small models of every architecture of the gallery, against the interpreter of their type."""

import numpy as np
import pytest
import tflite

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import at_night, by_day
from tests.support.models.gallery_models import NAMES, tiny
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

LEAST_VALUES = 10
"""Different values that an output has, so that it says something."""
MOST_SATURATED = 0.15
"""Share of values at the ends of the range."""


def check(content: bytes, config: str, *, is_unsigned: bool = False) -> None:
    """Compare a model's outputs with the interpreter's, which are neither constant nor clipped."""
    graph = tflite.Model.GetRootAs(content, 0).Subgraphs(0)
    shape = graph.Tensors(graph.Inputs(0)).ShapeAsNumpy()
    dtype, interpreter = (np.uint8, oracle.LITERT) if is_unsigned else (np.int8, oracle.MICRO)
    raw = np.random.default_rng(5).bytes(int(np.prod(shape)))
    x = np.frombuffer(raw, dtype).reshape(shape)
    (answer,) = oracle.ask([oracle.Case(content, (x,))], interpreter)
    assert answer.outputs is not None, answer.error
    program = Program.from_bytes(compile_model(content, config).to_bytes())
    ends = np.iinfo(dtype).min, np.iinfo(dtype).max
    for got, expected in zip(reference.run(program, [x]), answer.outputs, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
        assert len(np.unique(expected)) >= LEAST_VALUES
        assert np.isin(expected, ends).mean() < MOST_SATURATED


@pytest.mark.parametrize("config", by_day("64", "baseline", "simd", "128"))
@pytest.mark.parametrize("name", NAMES)
def test_int8(name: str, config: str) -> None:
    check(tiny(name).content(), config)


@pytest.mark.parametrize("config", by_day("64", "baseline", "simd", "128"))
@pytest.mark.parametrize("name", [NAMES[0], *(at_night(name) for name in NAMES[1:])])
def test_uint8(name: str, config: str) -> None:
    check(tiny(name, is_unsigned=True).content(), config, is_unsigned=True)
