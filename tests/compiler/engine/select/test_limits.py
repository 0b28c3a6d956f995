"""Layers of the CPU name the limit of the engine that they break."""

import re
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.plan import MAX_REGION_JOBS
from kiwicha.compiler.engine.select.limits import ENGINE_OPERATORS, engine_limits
from kiwicha.compiler.engine.select.select import select
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.reasons import engine_refusals, reasons
from kiwicha.compiler.tflite.reader import read
from kiwicha.contract.configs import ENGINE_CONFIGS
from kiwicha.contract.engine import MAX_KERNEL_ROWS
from kiwicha.contract.program import Where
from tests.support.models.tflite_builder import ModelBuilder

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


def pool(channels: int, rows: int = 3) -> bytes:
    """Give a model of one pool."""
    builder = ModelBuilder()
    x = builder.tensor((1, rows + 1, 3, channels), scale=0.5)
    y = builder.tensor((1, 2, 2, channels), scale=0.5)
    builder.operator("MAX_POOL_2D", [x], [y], filterHeight=rows, filterWidth=2, **STRIDES)
    return builder.build([x], [y])


TALL = pool(8, rows=300)
# Rows do not end at aligned bytes: there are no blocks of columns.
WIDE = window("DEPTHWISE_CONV_2D", (1, 3, 2001, 8), (1, 1, 1999, 8), (1, 3, 3, 8))


MOST = "; the engine takes up to 255"
STRIPES = "bytes of the scratchpad even in its smallest stripes"


@pytest.mark.parametrize(
    ("model", "config", "why"),
    [
        (TALL, "64", f"it has 300 kernel rows{MOST}; in two passes it has 300 kernel rows{MOST}"),
        (WIDE, "64-8k", f"it needs 64,032 {STRIPES}; 8,192 are available"),
    ],
    ids=["rows", "scratchpad"],
)
def test_a_layer_on_the_cpu_names_the_limit(model: bytes, config: str, why: str) -> None:
    compilation = compile_stages(model, config)
    (item,) = compilation.program.layers
    assert item.where is not Where.ENGINE
    assert engine_refusals(compilation) == {0: why}
    (said,) = reasons(compilation)
    assert said.startswith(f"{why}; ")
    assert engine_refusals(compile_stages(model, "simd")) == {}


def test_two_operands_name_their_shapes() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 8), scale=0.5, data=np.full((1, 4, 4, 8), -3, np.int8))
    y = builder.tensor((1, 1, 4, 8), scale=0.5)
    z = builder.tensor((1, 4, 4, 8), scale=0.5)
    builder.operator("PRELU", [x, y], [z])
    compilation = compile_stages(builder.build([y], [z]), "64")
    assert engine_refusals(compilation) == {
        0: "it combines a constant of 1x4x4x8 and a computed tensor of 1x1x4x8"
    }


def test_a_conversion_alone_gives_both_numbers() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 1, 1, 8), scale=0.5)
    y = builder.tensor((1, 1, 1, 8), np.float32)
    builder.operator("DEQUANTIZE", [x], [y])
    compilation = compile_stages(builder.build([x], [y]), "64")
    (why,) = engine_refusals(compilation).values()
    assert re.fullmatch(r"it takes \d+ cycles there, and \d+ in a list of its own", why)


def test_blocks_that_are_slower_than_the_cpu_give_both_numbers() -> None:
    network = lower(
        read(window("DEPTHWISE_CONV_2D", (1, 9, 9, 512), (1, 1, 1, 512), (1, 9, 9, 512)))
    )
    config = ENGINE_CONFIGS["64"]
    for cycles, is_refused in ((10.0, True), (1e9, False)):
        (decision,) = select(network, config, cpu_cycles=lambda _, c=cycles: c).decisions
        assert (decision.chosen is None) is is_refused
        last = decision.why_not.split("; ")[-1]
        pattern = r"in blocks of \d+ channels it takes about [\d,]+ cycles, and the CPU about 10"
        assert bool(re.fullmatch(pattern, last)) is is_refused


def test_more_jobs_than_a_region_has_are_named() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((MAX_REGION_JOBS + 1, 2, 2, 8), scale=0.5) for _ in range(2))
    values = np.random.default_rng(1).integers(-99, 99, (8, 3, 3, 8), np.int8)
    weights = builder.tensor(values.shape, scale=0.02, data=values)
    builder.operator("CONV_2D", [x, weights, -1], [y], **(STRIDES | {"padding": 0}))
    compilation = compile_stages(builder.build([x], [y]), "64")
    why = "it needs more jobs than the 16,384 of a region"
    assert engine_refusals(compilation) == {0: why}


def test_operators_that_no_engine_has_say_so() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 8), scale=scale) for scale in (0.5, 1 / 128))
    builder.operator("L2_NORMALIZATION", [x], [y])
    compilation = compile_stages(builder.build([x], [y]), "64")
    why = "it is L2_NORMALIZATION, which the engine does not compute"
    assert engine_refusals(compilation) == {0: why}
    (reason,) = reasons(compilation)
    assert reason.startswith(f"{why}; ")


def test_an_engine_without_softmax_jobs_names_one_that_has_them() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((4, 8), scale=s, zero_point=z) for s, z in ((0.5, 0), (1 / 256, -128)))
    builder.operator("SOFTMAX", [x], [y], beta=1.0)
    model = builder.build([x], [y])
    why = "it takes SOFTMAX jobs, which 64-8k has not; 64-8k-softmax has them"
    assert engine_refusals(compile_stages(model, "64-8k")) == {0: why}
    assert engine_refusals(compile_stages(model, "64-8k-softmax")) == {}


def test_every_limit_has_a_text_with_its_numbers_and_operators() -> None:
    for text, operators in engine_limits():
        assert text.endswith(".")
        assert "{" not in text
        assert {*operators} <= {*ENGINE_OPERATORS}
    texts = [text for text, _ in engine_limits()]
    assert len({*texts}) == len(texts)
    assert f"A window of separate channels has up to {MAX_KERNEL_ROWS} rows." in texts
