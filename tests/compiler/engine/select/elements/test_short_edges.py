"""QUANTIZE from int16 to int8 on the engine, against TensorFlow Lite Micro."""

import random
from dataclasses import replace

import numpy as np
import pytest

from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.select.elements.short_edges import requantized_shorts
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.onnx.formats import read
from kiwicha.contract.engine import JobKind
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.on_engine import job_kinds, on_engine
from tests.support.oracle.oracle import Case


def quantize(seed: int, shape: tuple[int, ...]) -> Case:
    """Give a QUANTIZE of any scales and zero points, and an input with extremes."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    values = numbers.integers(-(2**15), 2**15, shape).astype(np.int16)
    values.flat[:2] = -(2**15), 2**15 - 1
    builder = ModelBuilder("shorts")
    scale = rng.uniform(0.001, 0.1)
    x = builder.tensor(shape, np.int16, scale=scale, zero_point=rng.choice([0, -128, 90]))
    ratio = 2.0 ** rng.uniform(-1, 9)
    y = builder.tensor(shape, scale=scale * ratio, zero_point=rng.randint(-128, 127))
    builder.operator("QUANTIZE", [x], [y])
    return Case(builder.build([x], [y]), (values,))


@pytest.mark.parametrize("config", ["64", "32", "128", "256"])
@pytest.mark.parametrize("shape", [(1, 96), (3, 5, 7), (2, 33, 20), (1, 500)])
def test_equals_the_interpreter(shape: tuple[int, ...], config: str) -> None:
    for seed in range(6):
        stages = on_engine(quantize(seed, shape), config)
        assert job_kinds(stages) == [JobKind.MOVE, JobKind.MOVE, JobKind.ADD]


def test_what_does_not_fit_is_refused() -> None:
    network = lower(read(quantize(0, (1, 96)).model))
    (layer,) = network.layers
    for changes, reason in (
        ({"output_bytes": 2}, "goes from 16 to 16 bits"),
        ({"shift": 16}, "has a scale with which numbers do not fit 32 bits"),
    ):
        changed = replace(layer, params=replace(layer.params, **changes))
        with pytest.raises(BrokenLimitError, match=f"^{reason}$"):
            requantized_shorts(replace(network, layers=(changed,)), 0)
