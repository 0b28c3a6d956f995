"""Schedules: memory, order and jobs of random networks, and of single layers."""

import itertools
from collections.abc import Iterator, Sequence

import pytest

from kiwicha.compiler.driver import plan_engine
from kiwicha.compiler.engine.codegen.generate import generate
from kiwicha.compiler.engine.codegen.streams import stream_bytes, weight_stream
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.compiler.engine.ir.plan import BufferAddress, Compute, Plan, Transfer
from kiwicha.compiler.engine.ir.refusals import RefusedError, TooLongError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.schedule import cuts
from kiwicha.compiler.engine.schedule import schedule as schedule_module
from kiwicha.compiler.engine.schedule.hazards import waits
from kiwicha.compiler.engine.schedule.residency import Chooser
from kiwicha.compiler.engine.schedule.schedule import schedule
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.memory.placement import Buffer, place
from kiwicha.compiler.tflite.graph import NO_TENSOR
from kiwicha.compiler.tflite.reader import read
from kiwicha.contract.configs import ENGINE_CONFIGS, Config
from kiwicha.contract.engine import GROUP_WORDS, TRANSFER_FLAG, EngineJob, JobKind
from tests.compiler.engine.build import chain, convolution, depthwise, pointwise, region
from tests.support.models import random_networks

STORE = TRANSFER_FLAG


def engine(macs: int, scratchpad_bytes: int) -> Config:
    return Config("test", True, "", macs, scratchpad_bytes)


def planned(region: Region, size: int) -> Plan:
    return schedule(region, engine(64, size))


def listed(region: Region, size: int, macs: int = 64) -> EngineList:
    return generate(schedule(region, engine(macs, size)), engine(macs, size))


def random_lists() -> Iterator[tuple[EngineList, int]]:
    for seed in range(30):
        network = lower(read(random_networks.engine_network(seed).model))
        for macs, size in ((64, 65536), (32, 2048), (64, 4096), (128, 65536), (256, 65536)):
            config = engine(macs, size)
            for found in plan_engine(network, config).lists:
                yield found, size


def test_random_lists() -> None:
    streamed = passed = 0
    for found, size in random_lists():
        streamed += len(found.plan.streamed)
        passed += len(found.plan.passed)
        assert found.plan.scratchpad_bytes <= size
        placed = list(zip(found.plan.buffers, found.plan.offsets, strict=True))
        assert all(offset % 16 == 0 for offset in found.plan.offsets)
        for (a, at), (b, other) in itertools.combinations(placed, 2):
            if a.overlaps(b):
                assert at + a.bytes <= other or other + b.bytes <= at
        assert len(found.streams) % 16 == 0
        assert len(found.constants) % 16 == 0
        assert all(job.wait_transfers <= len(found.transfers) for job in found.jobs)
        for job in found.weighted_jobs:
            assert job.weights_offset % 16 == job.weights_bytes % 16 == 0
            assert job.weights_offset + job.weights_bytes <= len(found.streams)
            assert job.group_words <= GROUP_WORDS
        for planned in found.transfers:
            # Tensors begin at multiples of 16.
            start = planned.transfer.scratchpad_address
            assert planned.transfer.dram_offset % 16 == start % 16
            assert planned.transfer.wait_jobs <= len(found.jobs)
        # Constants that moves read are no tensors.
        moved = {p.tensor for p in found.transfers if p.tensor is not None} - {NO_TENSOR}
        assert moved == found.region.loads | found.region.stores | set(found.plan.streamed)
        raw = b"".join(found.images(dict.fromkeys(moved, 1 << 20)))
        descriptors = EngineJob.size_bytes() * len(found.jobs) + 16 * len(found.transfers)
        assert len(raw) == descriptors + len(found.streams) + len(found.constants)
        for item in found.region.operations:
            pitch = found.region.input_pitch(item)
            for part in item.job_operations:
                for macs in (32, 64):
                    assert stream_bytes(part, macs, pitch) == len(weight_stream(part, macs, pitch))
        assert not moved & set(found.plan.passed)
    assert streamed
    assert passed


def test_everything_stays_in_the_scratchpad_if_it_fits() -> None:
    run = chain(*(pointwise(k, 16, 16, 16, 16) for k in range(4)))
    found = listed(run, 3 * 4096)
    assert found.plan.scratchpad_bytes <= 3 * 4096
    # At the edges stripes are on their way while others are computed; nothing else moves.
    assert {planned.tensor for planned in found.transfers} == {0, 4}
    middle = [event for event in found.plan.events if isinstance(event, Compute)]
    assert [event.operation.position for event in middle].count(1) == 1
    assert [event.operation.position for event in middle].count(2) == 1


def test_large_tensors_are_streamed() -> None:
    run = chain(*(pointwise(k, 64, 64, 16, 16) for k in range(3)))
    found = listed(run, 64 * 1024)
    assert found.plan.streamed == (0, 3)
    assert found.plan.scratchpad_bytes <= 64 * 1024
    tensors = dict.fromkeys(found.plan.streamed, 0)
    for planned in found.transfers:
        if planned.transfer.bytes & STORE and planned.tensor in tensors:
            tensors[planned.tensor] += planned.transfer.bytes & ~STORE
    assert all(size == 64 * 64 * 16 for tensor, size in tensors.items() if tensor)
    # The second stripe is on its way before the first is computed.
    kinds = [isinstance(event, Compute) for event in found.plan.events]
    assert kinds[:3] == [False, False, True]
    # What is stored keeps its place while the next stripe begins.
    stores = [k for k, e in enumerate(found.plan.events) if isinstance(e, Transfer) and e.is_store]
    assert len(stores) > 2
    for store in stores[:-1]:
        event = found.plan.events[store]
        following = next(e for e in found.plan.events[store:] if isinstance(e, Compute))
        assert isinstance(event, Transfer)
        size = event.bytes
        start = found.plan.offsets[event.address.buffer]
        for buffer in following.writes:
            other = found.plan.offsets[buffer]
            assert other + found.plan.buffers[buffer].bytes <= start or start + size <= other


def test_a_layer_that_does_not_fit_is_named() -> None:
    run = chain(pointwise(0, 4, 4, 8, 8), pointwise(1, 4, 4, 8, 8))
    assert planned(run, 1024).streamed == ()
    huge = convolution(5, Window(1, 1, 2048, 1, 1), 8)
    both = region(*run.operations, huge, loads={0, 5}, stores={2, 6})
    with pytest.raises(RefusedError) as caught:
        planned(both, 1024)
    assert caught.value.position == 5
    # 2048 bytes of input, 8 of output, aligned.
    assert caught.value.why == (
        "needs 2,064 bytes of the scratchpad even in its smallest stripes; 1,024 are available"
    )


def test_gaps_cost_room_only_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    run = chain(pointwise(0, 4, 4, 8, 8), pointwise(1, 4, 4, 8, 8))
    large = convolution(5, Window(1, 1, 2048, 1, 1), 8)
    size = 2048 + 16
    calls = []

    def place_badly(buffers: Sequence[Buffer], *, capacity: int) -> list[int]:
        offsets = place(buffers, capacity=capacity)
        if not calls:
            offsets[0] = capacity
        calls.append(buffers)
        return offsets

    monkeypatch.setattr(schedule_module, "place", place_badly)
    both = region(*run.operations, large, loads={0, 5}, stores={2, 6})
    assert planned(both, size).scratchpad_bytes == size
    assert len(calls) == 2


def test_a_long_region_is_cut_between_cascades(monkeypatch: pytest.MonkeyPatch) -> None:
    run = chain(*(pointwise(k, 64, 64, 16, 16) for k in range(9)))
    choice = Chooser(run, 64).choose(16 * 1024)
    stripings = choice.stripings
    assert sum(striping.jobs(choice.streamed) for striping in stripings) > 40
    assert any(striping.cascade.passed for striping in stripings)
    monkeypatch.setattr(cuts, "MAX_REGION_JOBS", 40)
    with pytest.raises(TooLongError) as caught:
        planned(run, 16 * 1024)
    assert set(caught.value.positions) <= {s.cascade.operations[0].position for s in stripings[1:]}


@pytest.mark.parametrize("stores", [False, True])
def test_pixels_with_padding_cannot_be_stored(stores: bool) -> None:
    first, second = pointwise(0, 4, 4, 8, 5), pointwise(1, 4, 4, 5, 8)
    run = region(first, second, loads={0}, stores={1, 2} if stores else {2})
    assert run.is_padded(first)
    assert run.input_pitch(second) == 8
    single = pointwise(0, 1, 1, 8, 5)
    assert not chain(single).is_padded(single)


def test_fields_of_a_convolution() -> None:
    window = Window(9, 7, 16, 5, 4, 3, 3, 2, 2, 1, 1, pad_top=1, pad_left=1)
    found = listed(chain(convolution(0, window, 24)), 8192)
    (job,) = found.jobs
    pitch, row = 16, 7 * 16
    base = found.transfers[0].transfer.scratchpad_address
    assert (job.kind, job.groups, job.group_output_step) == (JobKind.CONV, 3, 8)
    assert (job.first_address, job.first_row) == (base - row, -1)
    assert (job.first_offset, job.row_span, job.column_step) == (-pitch, row, 2 * pitch)
    assert (job.row_step, job.kernel_row_step) == (2 * row, row)
    assert (job.segments, job.segment_words, job.row_words, job.group_words) == (1, 6, 6, 18)
    assert (job.input_rows, job.output_rows, job.output_columns) == (9, 5, 4)
    assert (job.output_pixel_bytes, job.input_zero_point, job.output_zero_point) == (24, -3, 4)
    assert (job.wait_transfers, found.transfers[1].transfer.wait_jobs) == (1, 1)


def test_fields_of_dilated_columns() -> None:
    window = Window(9, 9, 12, 9, 5, 1, 3, dilation_columns=2)
    (job,) = listed(chain(convolution(0, window, 8)), 8192).jobs
    assert (job.segments, job.segment_words, job.row_words, job.segment_step) == (3, 2, 6, 24)


@pytest.mark.parametrize(
    ("macs", "columns", "stride", "pad", "expected"),
    [
        # taps of 8?, groups, words, taps in use, phase of column 0, dropped results, beats
        (64, 3, 1, 1, (2, 3, 3, 0, 1, 1)),
        (64, 3, 2, 0, (2, 6, 2, 0, 1, 1)),
        (64, 3, 2, 1, (2, 6, 2, 1, 1, 1)),
        (32, 3, 1, 1, (3, 3, 3, 0, 1, 2)),
        (64, 4, 1, 3, (2, 3, 4, 0, 0, 1)),
    ],
)
def test_fields_of_a_depthwise_convolution(
    macs: int, columns: int, stride: int, pad: int, expected: tuple[int, ...]
) -> None:
    window = Window(8, 8, 24, 6, 3, 3, columns, 1, stride, pad_left=pad)
    (job,) = listed(chain(depthwise(0, window)), 8192, macs).jobs
    found = (
        *(job.groups, job.group_words, job.segments, job.first_phase, job.skip_results),
        job.last_beats,
    )
    assert found == expected
    assert job.first_index == job.first_phase * 3
    assert (job.column_step, job.interval) == (24, 2)


def test_a_pointwise_convolution_is_one_row() -> None:
    (job,) = listed(chain(pointwise(0, 6, 10, 16, 8)), 8192).jobs
    assert (job.output_rows, job.output_columns, job.row_span) == (1, 60, 960)


def test_events_wait_for_those_that_touch_the_same_bytes() -> None:
    first, second = pointwise(0, 2, 2, 8, 8), pointwise(1, 2, 2, 8, 8)

    def compute(what: Convolution, source: int, target: int) -> Compute:
        return Compute(
            operation=what,
            inputs=(BufferAddress(source),),
            input_pitch=8,
            first_input_row=0,
            input_rows=2,
            output=BufferAddress(target),
            output_pitch=8,
            first_output_row=0,
            output_rows=2,
            output_row_bytes=16,
        )

    events = [
        Transfer(0, 0, 32, BufferAddress(0), False),
        Transfer(5, 0, 32, BufferAddress(3), False),
        compute(first, 0, 1),
        Transfer(1, 0, 32, BufferAddress(1), True),
        compute(second, 1, 2),
        compute(second, 3, 1),
        Transfer(2, 0, 32, BufferAddress(2), True),
    ]
    apart = waits(events, [0, 32, 64, 96], [32] * 4)
    # The last job writes what is being stored, and has to wait for that.
    assert apart == [0, 0, 1, 1, 0, 3, 2]
    shared = waits(events, [0, 32, 0, 96], [32] * 4)
    assert shared == [0, 0, 1, 1, 1, 3, 2]


def test_only_known_engines_are_offered() -> None:
    assert {config.engine_macs for config in ENGINE_CONFIGS.values()} == {32, 64, 128, 256}
