"""Which depthwise jobs go to the unit, and where they stand in a plan."""

from itertools import pairwise

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.plan import BufferAddress, Compute, Job, Transfer
from kiwicha.compiler.engine.schedule.beside import beside, is_for_unit
from kiwicha.contract.depthwise import PARAMETER_PLACES, PASS_PLACES
from kiwicha.contract.engine import EngineJob, JobFlag, JobKind
from tests.support.models import random_networks
from tests.support.models.tflite_builder import ModelBuilder

PAIRED = (0, 1, 2, 6, 8, 9, 11)
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


def residual_block(side: int, channels: int, inside: int) -> bytes:
    """Return a model: more channels, a depthwise layer, fewer channels, and the sum with the input.

    Parameters
    ----------
    side : int
        Rows and columns.
    channels, inside : int
        Of the input, and between.
    """
    builder = ModelBuilder()
    x, z, total = (builder.tensor((1, side, side, channels), scale=0.5) for _ in range(3))
    y, d = (builder.tensor((1, side, side, inside), scale=0.5) for _ in range(2))

    def weights(*shape: int) -> int:
        return builder.tensor(shape, scale=0.02, data=np.ones(shape, np.int8))

    options = {"padding": 0, "strideH": 1, "strideW": 1}
    builder.operator("CONV_2D", [x, weights(inside, 1, 1, channels)], [y], **options)
    kernel = weights(1, 3, 3, inside)
    builder.operator("DEPTHWISE_CONV_2D", [y, kernel], [d], **options, depthMultiplier=1)
    builder.operator("CONV_2D", [d, weights(channels, 1, 1, inside)], [z], **options)
    builder.operator("ADD", [x, z], [total])
    return builder.build([x], [total])


def test_a_job_of_the_unit_is_beside_two_where_it_follows_none() -> None:
    """The sum of a stripe is short: what convolves the stripe takes the time of the next one."""
    (found,) = compile_stages(residual_block(26, 16, 64), "64-depthwise").lists
    on_unit = {pair.unit for pair in found.plan.beside}
    array = [
        number
        for number, event in enumerate(found.plan.events)
        if isinstance(event, Job) and number not in on_unit
    ]
    between = [
        array.index(pair.consumer) - array.index(pair.before)
        for pair in found.plan.beside
        if pair.consumer is not None
    ]
    assert len(between) > 3
    assert set(between) == {2}


def strided_block(side: int, channels: int, inside: int, outputs: int) -> bytes:
    """Return a model: more channels, a depthwise layer of stride 2, and other channels.

    Parameters
    ----------
    side : int
        Rows and columns, an even number.
    channels, inside, outputs : int
        Of the input, between, and of the output.
    """
    builder = ModelBuilder()
    half = side // 2
    x, y = (builder.tensor((1, side, side, depth), scale=0.5) for depth in (channels, inside))
    d, z = (builder.tensor((1, half, half, depth), scale=0.5) for depth in (inside, outputs))

    def weights(*shape: int) -> int:
        return builder.tensor(shape, scale=0.02, data=np.ones(shape, np.int8))

    once, twice = ({"padding": 0, "strideH": n, "strideW": n} for n in (1, 2))
    builder.operator("CONV_2D", [x, weights(inside, 1, 1, channels)], [y], **once)
    kernel = weights(1, 3, 3, inside)
    builder.operator("DEPTHWISE_CONV_2D", [y, kernel], [d], **twice, depthMultiplier=1)
    builder.operator("CONV_2D", [d, weights(outputs, 1, 1, inside)], [z], **once)
    return builder.build([x], [z])


def test_jobs_of_the_array_wait_for_the_unit_whose_own_are_in_order() -> None:
    """Of several stripes, which only the last layer reads, on the unit one behind the other."""
    (found,) = compile_stages(strided_block(52, 8, 16, 64), "64-depthwise").lists
    plan = found.plan
    on_unit = {pair.unit for pair in plan.beside}
    jobs = [number for number, event in enumerate(plan.events) if isinstance(event, Job)]
    assert len(plan.beside) > 2
    waiting = [pair for pair in plan.beside if not pair.is_paced]
    assert waiting
    for pair in waiting:
        assert pair.consumer is not None
        assert pair.consumer not in on_unit
        job, unit = found.jobs[jobs.index(pair.consumer)], jobs.index(pair.unit)
        assert job.wait_rows >= found.rows[unit].end


def image_block(side: int, outputs: int) -> bytes:
    """Return a model: a convolution of an image of one channel, and a depthwise layer."""
    builder = ModelBuilder()
    half = side // 2
    x = builder.tensor((1, side, side, 1), scale=0.5)
    y, d, z = (builder.tensor((1, half, half, outputs), scale=0.5) for _ in range(3))
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> int:
        return builder.tensor(shape, scale=0.02, data=rng.integers(-60, 60, shape).astype(np.int8))

    once, twice = ({"padding": 0, "strideH": n, "strideW": n} for n in (1, 2))
    builder.operator("CONV_2D", [x, weights(outputs, 3, 3, 1)], [y], **twice)
    builder.operator(
        "DEPTHWISE_CONV_2D", [y, weights(1, 3, 3, outputs)], [d], **once, depthMultiplier=1
    )
    builder.operator("CONV_2D", [d, weights(outputs, 1, 1, outputs)], [z], **once)
    return builder.build([x], [z])


def test_the_unit_follows_a_job_of_two_pixels_at_a_time() -> None:
    (found,) = compile_stages(image_block(64, 8), "128-depthwise").lists
    events = found.plan.events
    numbers = [number for number, event in enumerate(events) if isinstance(event, Job)]
    of_pixels = [
        pair
        for pair in found.plan.beside
        if pair.follows and getattr(events[pair.before], "columns", None) is not None
    ]
    assert of_pixels
    for pair in of_pixels:
        job, followed = (found.jobs[numbers.index(event)] for event in (pair.unit, pair.before))
        assert isinstance(job, EngineJob)
        assert isinstance(followed, EngineJob)
        assert (job.wait_group_step, job.waits_in_pairs, job.wait_row_step) == (0, 0, 1)
        # The last row that it reads is the last one that the other writes.
        rows, its_rows = (found.rows[numbers.index(event)] for event in (pair.before, pair.unit))
        assert its_rows.last_wait == rows.end


def test_loads_come_in_front_of_stores_of_other_tensors() -> None:
    def moved(tensor: int, *, is_store: bool) -> Transfer:
        return Transfer(tensor, 0, 64, BufferAddress(tensor), is_store)

    events = [
        moved(1, is_store=True),
        moved(2, is_store=False),
        moved(3, is_store=True),
        moved(3, is_store=False),
        moved(4, is_store=True),
        moved(5, is_store=False),
    ]
    found, pairs = beside(events)
    assert found == [events[place] for place in (1, 0, 2, 3, 5, 4)]
    assert pairs == ()


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
