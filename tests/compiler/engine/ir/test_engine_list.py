"""Lists: each that the engine does not take is refused, and parts of lists count anew."""

import dataclasses
from typing import Any

import pytest

from kiwicha.compiler.engine.codegen.generate import generate
from kiwicha.compiler.engine.ir.engine_list import (
    MAX_LIST_CYCLES,
    BroughtList,
    EngineList,
    ListPart,
    PlannedTransfer,
)
from kiwicha.compiler.engine.ir.operations import Operation, Piece
from kiwicha.compiler.engine.ir.product_operations import ComputedProductOperation
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.schedule import schedule
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import (
    ENGINE_WATCHDOG_CYCLES,
    GROUP_WORDS,
    MAX_JOBS,
    MAX_U16,
    TRANSFER_FLAG,
    EngineJob,
    EngineTransfer,
    SumFlag,
    TransferFlag,
)
from tests.compiler.engine.build import chain, pointwise

ENGINE = Config("test", True, "", 64, 65536)
RUN = chain(*(pointwise(k, 16, 16, 16, 16) for k in range(4)))
LIST = generate(schedule(RUN, ENGINE), ENGINE)
JOBS, TRANSFERS = len(LIST.jobs), len(LIST.transfers)
SPLIT = (JOBS // 2, TRANSFERS // 2)


def with_job(number: int, **fields: int) -> tuple[Any, ...]:
    """Return the jobs with other fields of one of them."""
    jobs = list(LIST.jobs)
    jobs[number] = dataclasses.replace(jobs[number], **fields)
    return tuple(jobs)


def with_transfer(number: int, **fields: int) -> tuple[PlannedTransfer, ...]:
    """Return the transfers with other fields of one of them."""
    items = list(LIST.transfers)
    other = dataclasses.replace(items[number].transfer, **fields)
    items[number] = dataclasses.replace(items[number], transfer=other)
    return tuple(items)


def last_job() -> EngineJob:
    job = LIST.jobs[-1]
    assert isinstance(job, EngineJob)
    return job


END = last_job().weights_offset + last_job().weights_bytes
BEYOND = {"weights_offset": len(LIST.streams) - last_job().weights_bytes + 16}


def test_the_list_has_what_the_cases_need() -> None:
    LIST.verify()
    assert JOBS > 3
    assert TRANSFERS > 3
    assert END == len(LIST.streams)


@pytest.mark.parametrize(
    "fields",
    [
        {"jobs": with_job(-1, wait_transfers=TRANSFERS)},
        {"transfers": with_transfer(-1, wait_jobs=JOBS)},
        {"jobs": with_job(0, group_words=GROUP_WORDS)},
        {"jobs": with_job(0, sums=SumFlag.KEEP)},
        {"again": LIST.jobs},
        {"streams": LIST.streams + bytes(16)},
        {"constants": bytes(32)},
        {"ends": (SPLIT,)},
    ],
)
def test_sound_lists(fields: dict[str, Any]) -> None:
    dataclasses.replace(LIST, **fields).verify()


@pytest.mark.parametrize(
    "fields",
    [
        {"jobs": (), "transfers": ()},
        {"jobs": with_job(-1, wait_transfers=TRANSFERS + 1)},
        {"transfers": with_transfer(-1, wait_jobs=JOBS + 1)},
        {"jobs": with_job(0, group_words=GROUP_WORDS + 1)},
        {"jobs": with_job(1, weights_offset=8)},
        {"jobs": with_job(-1, **BEYOND)},
        {"jobs": with_job(-1, sums=SumFlag.KEEP)},
        {"streams": LIST.streams[:-16]},
        {"streams": LIST.streams + bytes(8)},
        {"constants": bytes(8)},
        # The list for when weights are kept is another one of as many jobs, and whole.
        {"again": LIST.jobs[1:]},
        {"again": with_job(-1, **BEYOND)},
        {"again": with_job(0, weights_offset=8)},
        {"again": with_job(0, group_words=GROUP_WORDS + 1)},
        {"again": LIST.jobs, "ends": (SPLIT,)},
        # A part of its own without jobs, or whose sums another list would need.
        {"ends": ((0, 1),)},
        {"ends": ((JOBS, TRANSFERS),)},
        {"ends": (SPLIT,), "jobs": with_job(SPLIT[0] - 1, sums=SumFlag.KEEP)},
        # Only a list of computed weights has some, or a tensor that it lies in.
        {"computed_bytes": 16},
    ],
)
def test_unsound_lists(fields: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        dataclasses.replace(LIST, **fields).verify()


@pytest.mark.parametrize(
    ("fields", "is_sound"),
    [
        ({"jobs": LIST.jobs[:1], "transfers": ()}, True),
        ({"jobs": LIST.jobs[:1] * MAX_JOBS, "transfers": ()}, True),
        ({"jobs": LIST.jobs[:1] * (MAX_JOBS + 1), "transfers": ()}, False),
        ({"transfers": LIST.transfers[:1] * MAX_U16}, True),
        ({"transfers": LIST.transfers[:1] * (MAX_U16 + 1)}, False),
    ],
)
def test_lists_have_limits(fields: dict[str, Any], *, is_sound: bool) -> None:
    fields = {**fields, "jobs": fields.get("jobs", LIST.jobs)}
    fields["jobs"] = tuple(dataclasses.replace(job, wait_transfers=0) for job in fields["jobs"])
    found = dataclasses.replace(LIST, **fields)
    part = ListPart(found, range(len(found.jobs)), range(len(found.transfers)))
    if is_sound:
        part.verify()
        found.verify()
    else:
        with pytest.raises(AssertionError):
            part.verify()
        with pytest.raises(AssertionError):
            found.verify()


def test_predictions_may_be_half_of_what_the_watchdog_takes() -> None:
    assert 2 * MAX_LIST_CYCLES == ENGINE_WATCHDOG_CYCLES


def test_lists_are_usually_one_that_keeps_and_computes_nothing() -> None:
    found = EngineList(
        plan=LIST.plan, jobs=LIST.jobs, transfers=LIST.transfers, streams=LIST.streams
    )
    found.verify()
    assert (found.constants, found.ends, found.again, found.computed_bytes) == (b"", (), (), 0)
    assert not found.image_tensors


def computed(**fields: Any) -> EngineList:
    """Return a list whose first operation has computed weights: it lies in tensor 9."""
    (first,) = pointwise(0, 16, 16, 16, 16).job_operations
    shared = {field.name: getattr(first, field.name) for field in dataclasses.fields(Operation)}
    piece = Piece(range(16), first)
    product = ComputedProductOperation(**shared, pieces=(piece,), list_tensor=9)
    others = Region((product, *RUN.operations[1:]), RUN.loads, RUN.stores)
    plan = dataclasses.replace(LIST.plan, region=others)
    return dataclasses.replace(LIST, plan=plan, **fields)


def test_computed_streams_lie_behind_the_constants() -> None:
    size = last_job().weights_bytes
    behind = {"weights_offset": len(LIST.streams) + 32}
    fields: dict[str, Any] = {"constants": bytes(32), "computed_bytes": size}
    found = computed(jobs=with_job(-1, **behind), **fields)
    found.verify()
    assert found.image_tensors == {9: found.stored_bytes + size}
    brought = BroughtList(found, 16, 4000, range(1, 2))
    both = dataclasses.replace(LIST, brought=(brought,))
    assert both.image_tensors == {9: found.stored_bytes + size}
    assert both.scratchpad_bytes == max(LIST.plan.scratchpad_bytes, 4000)
    assert both.event_transfers == [0, *range(2, TRANSFERS)]
    for broken in (
        computed(jobs=with_job(-1, weights_offset=len(LIST.streams) + 48), **fields),
        computed(),
        computed(**fields, ends=(SPLIT,)),
        computed(**fields, again=LIST.jobs),
    ):
        with pytest.raises(AssertionError):
            broken.verify()


def test_transfers_of_tables_are_no_events() -> None:
    table = {"transfers": with_transfer(1, flags=TransferFlag.TABLE)}
    found = dataclasses.replace(LIST, **table)
    assert found.event_transfers == [0, *range(2, TRANSFERS)]
    assert LIST.event_transfers == [*range(TRANSFERS)]


def test_images_have_lists_then_streams() -> None:
    """Streams are so far behind each list; a transfer's place counts from its tensor's."""
    constant = PlannedTransfer(
        None, dataclasses.replace(LIST.transfers[1].transfer, dram_offset=64)
    )
    transfers = (LIST.transfers[0], constant, *LIST.transfers[2:])
    found = dataclasses.replace(LIST, ends=(SPLIT,), transfers=transfers, constants=bytes(80))
    tensors = dict.fromkeys(found.arena_tensors, 4096)
    first, second, rest = found.images(tensors)
    assert rest == LIST.streams + bytes(80)
    assert [len(first), len(second)] == [part.list_bytes for part in found.parts]
    size = EngineJob.size_bytes()
    distances = (len(first) + len(second), len(second))
    for image, part, distance in zip((first, second), found.parts, distances, strict=True):
        for number, job in enumerate(part.jobs):
            assert isinstance(job, EngineJob)
            stored = EngineJob.unpack(image[number * size :][:size])
            assert stored.weights_offset == distance + job.weights_offset
            assert dataclasses.replace(stored, weights_offset=job.weights_offset) == job
        for number, item in enumerate(part.transfers):
            start = len(part.jobs) * size + number * EngineTransfer.size_bytes()
            moved = EngineTransfer.unpack(image[start:][: EngineTransfer.size_bytes()])
            place = 4096 if item.tensor is not None else TRANSFER_FLAG | distance
            place += 0 if item.tensor is not None else len(LIST.streams)
            assert moved.dram_offset == place + item.transfer.dram_offset
    again = dataclasses.replace(LIST, again=with_job(0, layer=7))
    (whole, _) = again.images(tensors)
    half = len(whole) // 2
    assert [EngineJob.unpack(whole[at:][:size]).layer for at in (0, half)] == [
        LIST.jobs[0].layer,
        7,
    ]
    own, rest = dataclasses.replace(
        LIST,
        constants=bytes(16 + again.stored_bytes),
        brought=(BroughtList(again, 16, 0, range(0)),),
    ).images(tensors)
    assert rest[len(LIST.streams) + 16 :] == b"".join(again.images(tensors))
    assert len(own) == LIST.list_bytes


@pytest.mark.parametrize(("last", "expected"), [(258, ()), (259, (0, 1, 2, 256))])
def test_layers_far_from_the_first_are_told(last: int, expected: tuple[int, ...]) -> None:
    """A descriptor has 8 bits for the distance from the region's first layer."""
    *others, end = (
        dataclasses.replace(item, position=3 + k) for k, item in enumerate(RUN.operations)
    )
    run = chain(*others, dataclasses.replace(end, position=last))
    found = generate(schedule(run, ENGINE), ENGINE)
    layers = found.parts[0].far_layers
    assert tuple(dict.fromkeys(layers)) == expected
    assert len(layers) in {0, len(found.jobs)}


def test_a_part_that_goes_on_counts_from_its_first_ones() -> None:
    jobs, transfers = SPLIT
    found = dataclasses.replace(LIST, ends=(SPLIT,))
    first, second = found.parts
    assert (first.jobs, first.transfers) == (LIST.jobs[:jobs], LIST.transfers[:transfers])
    assert not first.goes_on
    assert second.goes_on
    waits = [max(job.wait_transfers - transfers, 0) for job in LIST.jobs[jobs:]]
    assert [job.wait_transfers for job in second.jobs] == waits
    behind = [max(item.transfer.wait_jobs - jobs, 0) for item in LIST.transfers[transfers:]]
    assert [item.transfer.wait_jobs for item in second.transfers] == behind
    assert any(waits)
    assert any(behind)
    sizes = [
        len(part.jobs) * EngineJob.size_bytes() + len(part.transfers) * EngineTransfer.size_bytes()
        for part in (first, second)
    ]
    assert [part.list_bytes for part in (first, second)] == sizes
    assert found.list_bytes == LIST.list_bytes == sum(sizes)
    assert found.stored_bytes == sum(sizes) + len(LIST.streams)
    assert dataclasses.replace(LIST, again=LIST.jobs).list_bytes == 2 * sum(sizes)


@pytest.mark.parametrize("is_float", [False, True])
def test_a_part_that_goes_on_loads_its_table_again(is_float: bool) -> None:
    """Of a transfer of float32 the table may have come with the list before."""
    jobs, transfers = SPLIT
    items = list(LIST.transfers)
    kinds = {0: TransferFlag.TABLE, 1: TransferFlag.TABLE, transfers: TransferFlag.FLOAT}
    for number, flags in kinds.items():
        if number or is_float:
            transfer = dataclasses.replace(items[number].transfer, flags=flags, bytes=16 + number)
            items[number] = dataclasses.replace(items[number], transfer=transfer)
    if not is_float:
        items[transfers] = LIST.transfers[transfers]
    found = dataclasses.replace(LIST, transfers=tuple(items), ends=(SPLIT,))
    _, second = found.parts
    waits = [max(job.wait_transfers - transfers, 0) for job in found.jobs[jobs:]]
    if is_float:
        table = second.transfers[0]
        assert table.transfer == dataclasses.replace(items[1].transfer, wait_jobs=0)
        waits = [wait + 1 if wait else 0 for wait in waits]
    assert len(second.transfers) == TRANSFERS - transfers + is_float
    assert [job.wait_transfers for job in second.jobs] == waits
