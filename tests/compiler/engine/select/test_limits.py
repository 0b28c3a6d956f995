"""Layers of the CPU name the limit of the engine that they break."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.reasons import engine_refusals, reasons
from kiwicha.contract.program import Where
from tests.support.models.tflite_builder import ModelBuilder

PLACE = "an image between the engine and the CPU, or a model output,"
STRIDES = {"padding": 1, "strideH": 1, "strideW": 1}


def window(operator: str, source: Any, result: Any, kernel: Any) -> bytes:
    """Give a model of one operator with weights of 127, of these shapes."""
    builder = ModelBuilder()
    x, y = (builder.tensor(shape, scale=0.5) for shape in (source, result))
    weights = builder.tensor(kernel, scale=0.5, data=np.full(kernel, 127, np.int8))
    is_apart = operator.startswith("DEPTHWISE")
    more = {"depthMultiplier": kernel[3] // source[3]} if is_apart else {}
    builder.operator(operator, [x, weights, -1], [y], **STRIDES, **more)
    return builder.build([x], [y])


def pool(channels: int) -> bytes:
    """Give a model of one pool."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, n, n, channels), scale=0.5) for n in (4, 2))
    builder.operator("MAX_POOL_2D", [x], [y], filterHeight=3, filterWidth=3, **STRIDES)
    return builder.build([x], [y])


CONV = window("CONV_2D", (1, 4, 4, 256), (1, 2, 2, 8), (8, 3, 3, 256))
PADDED = window("CONV_2D", (1, 4, 4, 252), (1, 2, 2, 8), (8, 3, 3, 252))
COLUMNS = window("DEPTHWISE_CONV_2D", (1, 30, 40, 16), (1, 1, 32, 16), (1, 30, 9, 16))
ELEMENTS = window("DEPTHWISE_CONV_2D", (1, 20, 20, 16), (1, 4, 5, 32), (1, 17, 16, 32))
SUMS = window("DEPTHWISE_CONV_2D", (1, 250, 40, 64), (1, 1, 33, 64), (1, 250, 8, 64))
TALL = window("CONV_2D", (1, 300, 2, 8), (1, 1, 1, 8), (8, 300, 2, 8))
ODD = pool(10)
WIDE = window("CONV_2D", (1, 3, 2000, 8), (1, 1, 1998, 8), (8, 3, 3, 8))


@pytest.mark.parametrize(
    ("model", "config", "why"),
    [
        (CONV, "64", "CONV_2D has 2304 weights of one output, the engine takes 2048"),
        (PADDED, "64", "CONV_2D has 2304 weights of one output, the engine takes 2048"),
        (
            COLUMNS,
            "64",
            "DEPTHWISE_CONV_2D has 9 kernel columns for each column of stride, the engine takes 8",
        ),
        (
            ELEMENTS,
            "64",
            "DEPTHWISE_CONV_2D has 2176 weights of a block of 8 channels, the engine takes 2048",
        ),
        (SUMS, "64", "DEPTHWISE_CONV_2D has 26 bits of its largest sum, the engine takes 25"),
        (TALL, "64", "CONV_2D has 300 kernel rows, the engine takes 255"),
        (
            ODD,
            "64",
            f"{PLACE} has 10 channels, the engine leaves multiples of 8",
        ),
        (WIDE, "64-8k", "no stripe of its tensors fits the engine's scratchpad of 8 KiB"),
    ],
    ids=["weights", "padded", "columns", "elements", "sums", "rows", "channels", "scratchpad"],
)
def test_a_layer_on_the_cpu_names_the_limit(model: bytes, config: str, why: str) -> None:
    compilation = compile_stages(model, config)
    (item,) = compilation.program.layers
    assert item.where is not Where.ENGINE
    assert engine_refusals(compilation) == {0: why}
    (said,) = reasons(compilation)
    assert said.startswith(f"{why}; ")
    assert engine_refusals(compile_stages(model, "simd")) == {}


def test_another_operator_names_what_the_engine_takes() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor(shape, scale=0.5) for shape in ((1, 4, 4, 8), (1, 1, 4, 8)))
    z = builder.tensor((1, 4, 4, 8), scale=0.5)
    builder.operator("ADD", [x, y], [z])
    compilation = compile_stages(builder.build([x, y], [z]), "64")
    assert engine_refusals(compilation)[0].startswith("the engine takes ADD of this kind: two tens")


def test_operators_that_no_engine_has_need_no_reason() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 8), scale=s, zero_point=z) for s, z in ((0.5, 0), (1 / 256, -128)))
    builder.operator("SOFTMAX", [x], [y], beta=1.0)
    compilation = compile_stages(builder.build([x], [y]), "64")
    assert engine_refusals(compilation) == {}
    assert reasons(compilation)[0].startswith("the engine does no SOFTMAX; ")
