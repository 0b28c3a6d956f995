"""Layers of int16 on engines with jobs for them, against TensorFlow Lite Micro."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.engine import JobFlag, SumFlag
from kiwicha.contract.program import Where
from kiwicha.sim.reference import executor as reference
from kiwicha.tflite_writer.builder import ACTIVATIONS
from tests.support.choices import by_day
from tests.support.models import random_shorts
from tests.support.models.convolution_chain import (
    convolution_chain,
    decoder_chain,
    summing_chain,
)
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

OPERATORS = (
    *("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV"),
    *("AVERAGE_POOL_2D", "MEAN", "SUM"),
)
CONFIGS = ("64-int16", "128-int16", "256-int16", "32-int16", "128-blocks-int16")


def differing(cases: list[oracle.Case], config: str) -> tuple[list[int], Counter[Where]]:
    """Return the cases that differ from the oracle, and where layers are."""
    places: Counter[Where] = Counter()
    found = []
    for number, (case, answer) in enumerate(
        zip(cases, oracle.ask(cases, oracle.MICRO), strict=True)
    ):
        assert answer.outputs is not None, answer.error
        stages = compile_stages(case.model, config)
        places.update(layer.where for layer in stages.program.layers)
        got = reference.run(stages.program, case.inputs)
        if [y.tobytes() for y in got] != [y.tobytes() for y in answer.outputs]:
            found.append(number)
    return found, places


@pytest.mark.parametrize(
    ("config", "count"), by_day(("64-int16", 6), *((name, 60) for name in CONFIGS))
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_random_operators(operator: str, config: str, count: int) -> None:
    cases = [random_shorts.single_operator(operator, seed) for seed in range(count)]
    wrong, places = differing(cases, config)
    assert not wrong
    assert places[Where.ENGINE] >= count // 6


def moves_of(raw: bytes, config: str) -> list[int]:
    """Give the positions of the layers that moves belong to."""
    regions = compile_stages(raw, config).engine.regions
    found = (item for region in regions for item in region.operations)
    return [item.position for item in found if isinstance(item, MoveOperation)]


@pytest.mark.parametrize("config", by_day(*CONFIGS))
@pytest.mark.parametrize("shape", [(1, 5, 6, 3), (2, 7, 4, 8)])
def test_layers_behind_each_other_keep_planes(shape: tuple[int, ...], config: str) -> None:
    """Only what comes in is split, and only what goes out is joined."""
    raw = convolution_chain(np.int16, shape, 20)
    x = np.random.default_rng(1).integers(-(2**15), 2**15, shape).astype(np.int16)
    assert not differing([oracle.Case(raw, (x,), oracle.MICRO)], config)[0]
    (made,) = compile_stages(raw, config).lists
    assert moves_of(raw, config) == [0, 3]
    others = made.weighted_jobs
    assert all(job.flags & JobFlag.SHORT for job in others if not job.sums & SumFlag.KEEP)
    assert all(
        bool(job.sums & SumFlag.SHIFTED) != bool(job.flags & JobFlag.LOWER) for job in others
    )


@pytest.mark.parametrize("config", by_day(*CONFIGS, "64-8k-int16"))
@pytest.mark.parametrize(("shape", "channels"), by_day(((1, 4, 5, 8), 24), ((2, 9, 7, 40), 48)))
def test_phases_and_blocks_of_channels_keep_planes(
    shape: tuple[int, ...], channels: int, config: str
) -> None:
    raw = decoder_chain(np.int16, shape, channels)
    x = np.random.default_rng(1).integers(-(2**15), 2**15, shape).astype(np.int16)
    wrong, places = differing([oracle.Case(raw, (x,), oracle.MICRO)], config)
    assert not wrong
    assert set(places) == {Where.ENGINE}
    assert moves_of(raw, config) == [0, 2]


@pytest.mark.parametrize("config", by_day(*CONFIGS, "64-8k-int16"))
@pytest.mark.parametrize(("shape", "channels"), by_day(((1, 5, 6, 8), 8), ((2, 11, 9, 16), 40)))
def test_sums_keep_planes(shape: tuple[int, ...], channels: int, config: str) -> None:
    raw = summing_chain(np.int16, shape, channels)
    x = np.random.default_rng(1).integers(-(2**15), 2**15, shape).astype(np.int16)
    wrong, places = differing([oracle.Case(raw, (x,), oracle.MICRO)], config)
    assert not wrong
    assert set(places) == {Where.ENGINE}
    assert moves_of(raw, config)[:1] == [0]
    if config != "64-8k-int16":
        assert moves_of(raw, config)[-1] == 2


def test_blocks_read_the_channels_that_have_weights() -> None:
    """Sixteen outputs of a DEPTHWISE_CONV_2D with two for each channel read a word of channels."""
    made = compile_stages(decoder_chain(np.int16, (1, 4, 4, 32), 32), "64-int16").lists[-1]
    last = made.weighted_jobs[-8:]
    assert {job.segment_words for job in last} == {1}
    assert {job.groups for job in last} == {2}


@pytest.mark.parametrize("side", by_day(64, 96, 160))
def test_large_images_come_in_stripes(side: int) -> None:
    shape = (1, side, side, 8)
    raw = convolution_chain(np.int16, shape, 8)
    x = np.random.default_rng(1).integers(-(2**15), 2**15, shape).astype(np.int16)
    wrong, places = differing([oracle.Case(raw, (x,), oracle.MICRO)], "128-48k-int16")
    assert not wrong
    assert set(places) == {Where.ENGINE}
    # Planes lie in the place of tensors, whether these are in one region or not.
    steps = (
        s for item in compile_stages(raw, "128-48k-int16").engine.operations for s in item.steps
    )
    assert [step.position for step in steps if isinstance(step, MoveOperation)] == [0, 3]


@pytest.mark.parametrize("kernel", by_day(3, 1))
def test_long_rows_stand_upright(kernel: int) -> None:
    """As those of sound are: there is no room for one."""
    builder, length = ModelBuilder(), 700
    numbers = np.random.default_rng(kernel)
    x = builder.tensor((1, 1, length, 8), np.int16, scale=2.0**-10)
    y = builder.tensor((1, 1, length, 8), np.int16, scale=2.0**-10)
    z = builder.tensor((1, 1, length, 8), np.int16, scale=2.0**-10)
    full = numbers.integers(-90, 91, (8, 1, kernel, 8), np.int8)
    apart = numbers.integers(-90, 91, (1, 1, kernel, 8), np.int8)
    same = {"padding": 0, "strideH": 1, "strideW": 1}
    operands = [x, builder.tensor(full.shape, scale=2.0**-9, data=full)]
    builder.operator("CONV_2D", operands, [y], **same)
    operands = [y, builder.tensor(apart.shape, scale=2.0**-7, data=apart)]
    builder.operator("DEPTHWISE_CONV_2D", operands, [z], depthMultiplier=1, **same)
    values = numbers.integers(-(2**15), 2**15, (1, 1, length, 8)).astype(np.int16)
    case = oracle.Case(builder.build([x], [z]), (values,), oracle.MICRO)
    wrong, places = differing([case], "64-8k-int16")
    assert not wrong
    assert set(places) == {Where.ENGINE}


def dense(weight: int, inputs: int, **fields: Any) -> bytes:
    """Give a FULLY_CONNECTED of int16 with equal weights."""
    builder = ModelBuilder()
    x = builder.tensor((1, inputs), np.int16, scale=2.0**-10)
    y = builder.tensor((1, 8), np.int16, scale=fields.pop("scale", 2.0**-4))
    data = np.full((8, inputs), weight, np.int8)
    weights = builder.tensor(data.shape, scale=2.0**-7, data=data)
    builder.operator("FULLY_CONNECTED", [x, weights], [y], **fields)
    return builder.build([x], [y])


RELU6 = {"fusedActivationFunction": ACTIVATIONS["RELU6"]}


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (dense(127, 516), ""),
        (
            dense(127, 517),
            "it has sums of int16 that may be as large as 2,151,514,112; the engine adds 32 bits",
        ),
        (dense(1, 8, scale=6 / 32767, **RELU6), ""),
        (dense(1, 8, **RELU6), "it is limited to 0 to 96, within an upper byte"),
    ],
    ids=["sums", "long sums", "relu6", "narrow relu6"],
)
def test_limits(model: bytes, why: str) -> None:
    stages = compile_stages(model, "64-int16")
    (layer,) = stages.program.layers
    assert (layer.where is Where.ENGINE) == (not why)
    assert engine_refusals(stages).get(0, "") == why


def test_other_engines_have_none() -> None:
    stages = compile_stages(dense(1, 8), "64")
    assert engine_refusals(stages) == {
        0: "it is FULLY_CONNECTED of int16, which engines with -int16 in their names compute"
    }
