"""Which depthwise jobs go to the unit, and where they stand in a plan."""

from itertools import pairwise

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.plan import Compute, Job
from kiwicha.compiler.engine.schedule.beside import is_for_unit
from kiwicha.contract.depthwise import PARAMETER_PLACES, PASS_PLACES
from kiwicha.contract.engine import EngineJob, JobFlag, JobKind
from tests.support.models import random_networks
from tests.support.models.tflite_builder import ModelBuilder

PAIRED = (0, 1, 3, 6, 8, 9, 11)
"""Seeds of models whose plans have pairs."""


@pytest.mark.parametrize("seed", PAIRED)
def test_a_job_of_the_unit_stands_before_the_one_it_is_beside(seed: int) -> None:
    (found,) = compile_stages(random_networks.depthwise_pairs(seed).model, "64-depthwise").lists
    plan = found.plan
    assert plan.beside
    jobs = [number for number, event in enumerate(plan.events) if isinstance(event, Job)]
    following = dict(pairwise(jobs))
    on_unit = {pair.unit for pair in plan.beside}
    for pair in plan.beside:
        unit, before = plan.events[pair.unit], plan.events[pair.before]
        assert isinstance(unit, Compute)
        assert is_for_unit(unit.operation)
        assert following[pair.unit] == pair.before
        assert pair.before not in on_unit
        assert pair.follows == bool(before.writes & unit.reads)
        assert not before.reads & unit.writes
        if pair.consumer is not None:
            assert pair.consumer > pair.before
            assert pair.consumer not in on_unit
        assert not pair.is_paced or plan.events[pair.consumer].reads & unit.writes
    kinds = [job.kind == JobKind.DEPTHWISE_UNIT for job in found.jobs]
    assert kinds == [number in on_unit for number in jobs]


def test_two_groups_follow_one_of_packed_weights() -> None:
    in_pairs = []
    for seed in (7, 9, 11):
        case = random_networks.depthwise_pairs(seed, size=12, channels=(16, 24, 40))
        (found,) = compile_stages(case.model, "128-8k-depthwise").lists
        events = [n for n, event in enumerate(found.plan.events) if isinstance(event, Job)]
        jobs = dict(zip(events, found.jobs, strict=True))
        for pair in found.plan.beside:
            job, before = jobs[pair.unit], jobs[pair.before]
            assert isinstance(job, EngineJob)
            if not pair.follows:
                assert job.waits_in_pairs == job.wait_group_step == 0
                continue
            assert isinstance(before, EngineJob)
            assert job.waits_in_pairs == bool(before.flags & JobFlag.PACKED)
            assert job.wait_group_step == before.output_rows
            in_pairs.append(job.waits_in_pairs)
    assert set(in_pairs) == {0, 1}


@pytest.mark.parametrize("seed", PAIRED)
def test_buffers_of_both_units_lie_apart(seed: int) -> None:
    (found,) = compile_stages(random_networks.depthwise_pairs(seed).model, "64-depthwise").lists
    plan = found.plan
    for pair in plan.beside:
        unit = plan.events[pair.unit]
        last = pair.before if pair.consumer is None else pair.consumer
        for event in (plan.events[pair.before], plan.events[last]):
            for mine in unit.writes:
                for other in (event.reads | event.writes) - {mine}:
                    start, first = plan.offsets[mine], plan.offsets[other]
                    end = start + plan.buffers[mine].aligned_bytes
                    assert end <= first or first + plan.buffers[other].aligned_bytes <= start


@pytest.mark.parametrize(
    ("channels", "kernel", "is_held"),
    [
        (8 * PARAMETER_PLACES, 3, True),
        (8 * PARAMETER_PLACES + 8, 3, False),
        (8 * (PASS_PLACES // 4), 5, True),
        (8 * (PASS_PLACES // 4) + 8, 5, False),
        (8, 7, True),
        (8, 8, False),
    ],
)
def test_layers_whose_weights_the_unit_holds(channels: int, kernel: int, is_held: bool) -> None:
    builder = ModelBuilder()
    shape = (1, 10, 10, channels)
    x, y = (builder.tensor(shape, scale=0.5) for _ in range(2))
    weights = builder.tensor(
        (1, kernel, kernel, channels),
        scale=0.02,
        data=np.ones((1, kernel, kernel, channels), np.int8),
    )
    options = {"padding": 0, "strideH": 1, "strideW": 1, "depthMultiplier": 1}
    builder.operator("DEPTHWISE_CONV_2D", [x, weights], [y], **options)
    stages = compile_stages(builder.build([x], [y]), "64-depthwise")
    operations = [
        event.operation
        for found in stages.lists
        for event in found.plan.events
        if isinstance(event, Compute)
    ]
    assert {is_for_unit(operation) for operation in operations} == {is_held}
