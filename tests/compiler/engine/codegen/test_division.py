"""Several lists of a region: each is within the bounds, and together they give the same bytes."""

import re

import numpy as np
import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.engine.codegen import division
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.engine.cost.predictions import layer_predictions
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.engine import MAX_JOBS, EngineCall, EngineJob, TransferFlag
from kiwicha.contract.program import Where
from kiwicha.program.engine_list import EngineList, read_list
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SEEDS = range(8)
FEW = 5


def lists_of(compilation: Compilation) -> list[tuple[EngineCall, EngineList]]:
    program = compilation.program
    calls = [step.params for step in program.steps if isinstance(step.params, EngineCall)]
    images = [program.constants[call.image.offset :][: call.image.bytes] for call in calls]
    return [(call, read_list(call, image)) for call, image in zip(calls, images, strict=True)]


def answers(compilation: Compilation, case: oracle.Case) -> list[bytes]:
    return [output.tobytes() for output in reference.run(compilation.program, case.inputs)]


def float_edges() -> oracle.Case:
    """Give two images of float32 of other scales that are added, in stripes."""
    builder, rng = ModelBuilder(), np.random.default_rng(1)
    shape = (1, 64, 64, 24)
    inputs = [builder.tensor(shape, np.float32) for _ in range(2)]
    sums = []
    for number, source in enumerate(inputs):
        sums.append(builder.tensor(shape, scale=0.03 + 0.02 * number, zero_point=number))
        builder.operator("QUANTIZE", [source], [sums[-1]])
    total, out = builder.tensor(shape, scale=0.06), builder.tensor(shape, np.float32)
    builder.operator("ADD", sums, [total])
    builder.operator("DEQUANTIZE", [total], [out])
    values = [rng.normal(0, 2, shape).astype(np.float32) for _ in inputs]
    return oracle.Case(builder.build(inputs, [out]), tuple(values))


def many_images() -> oracle.Case:
    """Give a convolution of one image more than a list has jobs."""
    builder, rng = ModelBuilder(), np.random.default_rng(1)
    shape = (MAX_JOBS + 1, 2, 2, 8)
    x, y = (builder.tensor(shape, scale=0.5) for _ in range(2))
    weights = builder.tensor(
        (8, 3, 3, 8), scale=0.02, data=rng.integers(-99, 99, (8, 3, 3, 8), "i1")
    )
    builder.operator("CONV_2D", [x, weights], [y], padding=0, strideH=1, strideW=1)
    return oracle.Case(builder.build([x], [y]), (rng.integers(-128, 128, shape, "i1"),))


def cases() -> list[oracle.Case]:
    networks = [random_networks.engine_network(seed, images=1 + seed % 3) for seed in SEEDS]
    return [*networks, *map(random_networks.long_sums, SEEDS), float_edges()]


def test_lists_of_few_jobs_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tables = 0
    for case in cases():
        whole = compile_stages(case.model, "64")
        with monkeypatch.context() as patch:
            patch.setattr(division, "MAX_JOBS", FEW)
            parts = compile_stages(case.model, "64")
        assert answers(parts, case) == answers(whole, case)
        lists = lists_of(parts)
        assert sum(call.goes_on for call, _ in lists) == len(lists) - len(parts.lists)
        for call, found in lists:
            assert len(found.jobs) <= FEW
            kept += any(isinstance(job, EngineJob) and job.sums for job in found.jobs)
            flags = [item.flags for item in found.transfers]
            tables += bool(call.goes_on and flags[:1] == [TransferFlag.TABLE])
    assert kept
    assert tables


def test_jobs_beside_each_other_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = 0
    for seed in SEEDS:
        case = random_networks.depthwise_pairs(seed, pairs=4)
        whole = compile_stages(case.model, "64-depthwise")
        with monkeypatch.context() as patch:
            patch.setattr(division, "MAX_JOBS", 3)
            parts = compile_stages(case.model, "64-depthwise")
        for call, found in lists_of(parts):
            assert len(found.jobs) <= 3
            waiting += call.goes_on and any(job.wait_rows for job in found.jobs)
        assert answers(parts, case) == answers(whole, case)
    assert waiting > 5


def test_jobs_beside_each_other_that_no_list_holds_do_not_run_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = random_networks.depthwise_pairs(0, pairs=4)
    whole = compile_stages(case.model, "64-depthwise")
    monkeypatch.setattr(division, "MAX_JOBS", 1)
    parts = compile_stages(case.model, "64-depthwise")
    assert not any(found.plan.beside for found in parts.lists)
    assert answers(parts, case) == answers(whole, case)


def test_lists_of_few_cycles_are_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    case = float_edges()
    whole = compile_stages(case.model, "64")
    total, _ = predict_program(whole.program)
    monkeypatch.setattr(division, "MAX_LIST_CYCLES", total // 4)
    parts = compile_stages(case.model, "64")
    assert [layer.where for layer in parts.program.layers] == [Where.ENGINE] * 4
    times = [cycles for cycles, _ in predict_program(parts.program)[1].values()]
    assert len(times) > 4
    # Loads for what follows come in addition, up to the scratchpad's size.
    assert max(times) < total // 4 + parts.config.scratchpad_bytes
    assert answers(parts, case) == answers(whole, case)


def test_lists_share_their_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_networks.engine_network(2)
    whole = compile_stages(case.model, "64")
    monkeypatch.setattr(division, "MAX_JOBS", 1)
    parts = compile_stages(case.model, "64")
    assert len(lists_of(parts)) > len(lists_of(whole))
    assert len(parts.program.constants) == len(whole.program.constants)
    first, *others = (layer_predictions(found.graph, found.program) for found in (whole, parts))
    for other in others:
        assert (other.streams, other.weight_bytes) == (first.streams, first.weight_bytes)


def test_more_images_than_a_list_has_jobs_take_two() -> None:
    compilation = compile_stages(many_images().model, "64")
    (whole,) = compilation.lists
    counts = [len(found.jobs) for _, found in lists_of(compilation)]
    assert counts == [MAX_JOBS, len(whole.jobs) - MAX_JOBS]


def test_jobs_whose_sums_belong_together_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_networks.long_sums(0)
    whole = compile_stages(case.model, "64")
    monkeypatch.setattr(division, "MAX_JOBS", 1)
    refused = compile_stages(case.model, "64")
    assert any("whose sums belong together" in why for why in engine_refusals(refused).values())
    assert answers(refused, case) == answers(whole, case)


def test_a_job_that_is_too_long_is_for_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    case = many_images()
    whole = compile_stages(case.model, "64")
    monkeypatch.setattr(division, "MAX_LIST_CYCLES", 10)
    refused = compile_stages(case.model, "64")
    (why,) = engine_refusals(refused).values()
    assert re.search(r"has a job of \d+ cycles; a list takes up to 10, half of what the", why)
    assert answers(refused, case) == answers(whole, case)
