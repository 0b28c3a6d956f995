"""Layers of int16 number by number on engines with jobs for them, against TFLite Micro."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.engine import JobKind
from kiwicha.contract.program import Where
from kiwicha.contract.short_elements import EngineShortElements, ShortForm, ShortOperator
from tests.support.choices import by_day
from tests.support.models import random_shorts
from tests.support.models.convolution_chain import element_layer, mixed_chain, residual_chain
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle
from tests.support.oracle.on_engine import job_kinds, on_engine

OPERATORS = ("ADD", "SUB", "MUL", "LEAKY_RELU", "LOGISTIC", "TANH", "MAX_POOL_2D")
CONFIGS = ("64-int16", "128-int16", "256-int16", "128-recurrent")
PACE = 0.45
"""Of int8, at least."""


def numbers(shape: tuple[int, ...], seed: int = 1) -> np.ndarray[Any, np.dtype[np.int16]]:
    return np.random.default_rng(seed).integers(-(2**15), 2**15, shape).astype(np.int16)


@pytest.mark.parametrize(
    ("config", "count"), by_day(("64-int16", 4), *((name, 60) for name in CONFIGS))
)
@pytest.mark.parametrize("operator", [*OPERATORS, "RELU"])
def test_random_operators(operator: str, config: str, count: int) -> None:
    cases = [random_shorts.single_operator(operator, seed) for seed in range(count)]
    places: Counter[Where] = Counter()
    for case in cases:
        stages = on_engine(case, config, is_all=False)
        places.update(layer.where for layer in stages.program.layers)
    assert places[Where.ENGINE] >= count // 8


@pytest.mark.parametrize("config", by_day(*CONFIGS))
@pytest.mark.parametrize("operator", OPERATORS)
def test_lone_layers_read_numbers_as_they_lie(operator: str, config: str) -> None:
    """Without moves; odd sizes end within a beat."""
    shape = (1, 7, 9, 8 if operator == "MAX_POOL_2D" else 5)
    raw = element_layer(np.int16, shape, operator)
    count = 2 if operator in {"ADD", "SUB", "MUL"} else 1
    inputs = tuple(numbers(shape, seed) for seed in range(count))
    stages = on_engine(oracle.Case(raw, inputs, oracle.MICRO), config)
    assert set(job_kinds(stages)) == {JobKind.SHORT_ELEMENTS}
    jobs = [job for item in stages.lists for job in item.jobs]
    assert all(isinstance(job, EngineShortElements) for job in jobs)
    assert {job.form for job in jobs if isinstance(job, EngineShortElements)} == {ShortForm.WHOLE}


@pytest.mark.parametrize("operator", OPERATORS)
def test_lone_layers_have_nearly_half_the_pace_of_int8(operator: str) -> None:
    shape = (1, 16, 16, 64)
    int8, int16 = (
        predict_program(compile_stages(element_layer(kind, shape, operator), "64-int16").program)[0]
        for kind in (np.int8, np.int16)
    )
    assert int8 / int16 >= PACE


@pytest.mark.parametrize("config", by_day(*CONFIGS, "64-8k-int16"))
@pytest.mark.parametrize("chain", by_day(residual_chain, mixed_chain))
def test_between_convolutions_planes_are_kept(chain: Any, config: str) -> None:
    """Only what comes in is split, and only what goes out is joined."""
    shape = (1, 5, 6, 16)
    raw = chain(np.int16, shape, 16)
    stages = on_engine(oracle.Case(raw, (numbers(shape),), oracle.MICRO), config)
    items = [item for region in stages.engine.regions for item in region.operations]
    moves = [item.position for item in items if isinstance(item, MoveOperation)]
    last = max(item.position for item in items)
    assert moves == [0, last]
    found = [j for item in stages.lists for j in item.jobs if isinstance(j, EngineShortElements)]
    assert {job.form for job in found} == {ShortForm.PLANES}


def test_large_images_come_in_stripes() -> None:
    shape = (1, 64, 64, 8)
    raw = residual_chain(np.int16, shape, 8)
    stages = on_engine(oracle.Case(raw, (numbers(shape),), oracle.MICRO), "128-16k-int16")
    assert len([k for k in job_kinds(stages) if k is JobKind.SHORT_ELEMENTS]) > 1


def pair(
    operator: str, shape: tuple[int, ...], other: tuple[int, ...], *, is_constant: bool = False
) -> tuple[bytes, tuple[Any, ...]]:
    """Return a model of two operands of int16, and its inputs."""
    builder = ModelBuilder()
    x = builder.tensor(shape, np.int16, scale=2.0**-10)
    values = numbers(other, 7)
    data = {"data": values} if is_constant else {}
    y = builder.tensor(other, np.int16, scale=2.0**-11, **data)
    z = builder.tensor(shape, np.int16, scale=2.0**-9 if operator != "MUL" else 2.0**-7)
    builder.operator(operator, [x, y], [z])
    inputs = [x] if is_constant else [x, y]
    given = (numbers(shape),) if is_constant else (numbers(shape), values)
    return builder.build(inputs, [z]), given


@pytest.mark.parametrize("operator", by_day("SUB", "ADD", "MUL"))
@pytest.mark.parametrize(
    ("other", "is_constant"),
    [((1, 1, 1, 16), False), ((16,), True), ((1,), True), ((2, 3, 5, 16), True)],
)
def test_other_operands(operator: str, other: tuple[int, ...], is_constant: bool) -> None:
    """One pixel, a constant for each channel, one for all, and a constant tensor."""
    raw, inputs = pair(operator, (2, 3, 5, 16), other, is_constant=is_constant)
    on_engine(oracle.Case(raw, inputs, oracle.MICRO), "64-int16")


def test_extremes() -> None:
    """Sums and products saturate, and operands round to both sides."""
    edges = np.array([-(2**15), -(2**15) + 1, -1, 0, 1, 2, 2**14, 2**15 - 1], np.int16)
    shape = (1, 8, 8, 8)
    first = np.broadcast_to(edges[:, None, None], shape[1:]).reshape(shape)
    second = np.broadcast_to(edges[:, None], shape[1:]).reshape(shape)
    for operator in ("ADD", "SUB", "MUL"):
        raw = element_layer(np.int16, shape, operator)
        given = (np.ascontiguousarray(first), np.ascontiguousarray(second))
        on_engine(oracle.Case(raw, given, oracle.MICRO), "64-int16")


def refusal(raw: bytes, config: str) -> str:
    return engine_refusals(compile_stages(raw, config)).get(0, "")


def test_limits() -> None:
    raw, _ = pair("ADD", (2, 6, 8), (2, 1, 8))
    assert refusal(raw, "64-int16") == "it has operands of int16 that are repeated otherwise"
    raw = element_layer(np.int16, (1, 4, 4, 8), "ADD")
    for config in ("64", "32-int16"):
        assert refusal(raw, config) == (
            "it is ADD of int16, which engines with -int16 in their names compute"
        )


def test_small_layers_are_faster_on_the_cpu() -> None:
    raw = element_layer(np.int16, (1, 1, 1, 2), "LEAKY_RELU")
    assert "in a list of its own" in refusal(raw, "64-int16")


def test_every_operator_has_jobs() -> None:
    raw = mixed_chain(np.int16, (1, 8, 8, 16), 16)
    jobs = [job for item in compile_stages(raw, "64-int16").lists for job in item.jobs]
    found = {ShortOperator(j.operator) for j in jobs if isinstance(j, EngineShortElements)}
    assert found == {*ShortOperator} - {ShortOperator.ADD}
