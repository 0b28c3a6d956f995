"""Predicted cycles: against a walk step by step, and against what the models must reach."""

import dataclasses
import itertools
import random
from collections.abc import Sequence

import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.course import Course, Likeness
from kiwicha.compiler.engine.cost.cycles import predict_list, predict_program
from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.compiler.engine.cost.timeline import Threads
from kiwicha.contract.engine import (
    EngineCall,
    EngineJob,
    EngineTransfer,
    JobFlag,
    JobKind,
    TransferFlag,
)
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.contract.moves import AnyJob, EngineMove
from kiwicha.program.engine_list import read_list
from kiwicha.program.image import Program
from tests.support.models import random_models, random_networks

BARS = {
    "person_detect": (145_000, 95_000),
    "mlperf_vww_96_int8": (100_000, 75_000),
    "mlperf_kws_ref_model": (58_000, 36_000),
    "mlperf_pretrainedResnet_quant": (225_000, 120_000),
    "mlperf_ad01_int8": (24_000, 24_000),
    "cfu_mobilenetv2_160_035": (600_000, 440_000),
}
"""Cycles at 64 and at 128 products per cycle that the engine must not exceed."""


def lists(program: Program) -> list[tuple[Sequence[AnyJob], Sequence[EngineTransfer]]]:
    found = []
    for step in program.steps:
        if isinstance(step.params, EngineCall):
            image = step.params.image
            given = read_list(step.params, program.constants[image.offset :][: image.bytes])
            found.append((given.jobs, given.transfers))
    return found


def walked(job: EngineJob) -> tuple[int, int]:
    """Count operations of a group, and cycles between them so that results keep their distance."""
    cycles = operations = 0
    last_result = -100
    for row in range(job.output_rows):
        first = job.first_row + row * job.stride_rows
        rows = [first + k * job.dilation_rows for k in range(job.kernel_rows)]
        inside = max(sum(0 <= number < job.input_rows for number in rows), 1)
        if job.flags & JobFlag.GATHERED:
            steps = [job.group_words] * job.output_columns
        elif job.kind != JobKind.DEPTHWISE:
            steps = [inside * job.row_words] * job.output_columns
        else:
            steps, column = [0], 0
            results = job.output_columns + job.skip_results
            while len(steps) <= results:
                steps[-1] += inside if column * job.column_step < job.row_span else 1
                if (column + job.first_phase) % job.stride_columns == job.stride_columns - 1:
                    steps.append(0)
                column += 1
            del steps[-1]
        for count in steps:
            operations += count
            cycles = max(cycles + count, last_result + job.interval)
            last_result = cycles
    return operations, cycles - operations


@pytest.mark.parametrize("macs", ["32", "64"])
@pytest.mark.parametrize("seed", range(15))
def test_work_of_random_jobs(seed: int, macs: str) -> None:
    program = compile_model(random_networks.engine_network(seed).model, macs, has_tables=True)
    for jobs, _ in lists(program):
        for job in jobs:
            if isinstance(job, EngineMove):
                continue
            work = job_work(job, int(macs))
            assert work.groups * work.fill_bytes == pytest.approx(job.weights_bytes)
            if job.kind in {JobKind.CONV, JobKind.DEPTHWISE, JobKind.MAX}:
                assert (work.operations, work.held) == walked(job)
                slow = dataclasses.replace(job, interval=8)
                work = job_work(slow, int(macs))
                assert (work.operations, work.held) == walked(slow)
            else:
                reads = 1 if job.kind == JobKind.TABLE else 2
                assert work.operations == reads * job.segment_words
                words = 1 if job.kind == JobKind.MUL else 2048 // int(macs)
                assert job.group_words == words


@pytest.mark.parametrize("seed", range(8))
def test_lists_take_at_least_what_each_part_takes(seed: int) -> None:
    program = compile_model(random_networks.engine_network(seed).model, "64", has_tables=True)
    for jobs, transfers in lists(program):
        total, parts = predict_list(jobs, transfers, 64)
        moved = sum(item.bytes & 0x7FFF_FFFF for item in transfers)
        moved += sum(job.weights_bytes for job in jobs if isinstance(job, EngineJob))
        assert total >= moved / DDR3_QUARTER_RATE.bytes_per_cycle
        assert total >= sum(part.busy + part.requantizer for part in parts)
        assert [part.layer for part in parts] == [job.layer for job in jobs]
        for part in parts:
            assert part.end > part.start
            assert part.overhead >= -2
        assert all(a.end == b.start for a, b in itertools.pairwise(parts))


@pytest.mark.slow
@pytest.mark.parametrize("config", ["64", "128"])
@pytest.mark.parametrize("name", BARS)
def test_models_reach_their_bars(name: str, config: str, zoo_model) -> None:
    program = compile_model(zoo_model(name), config, has_tables=True)
    total, found = predict_program(program)
    assert total <= BARS[name][config == "128"]
    assert total >= sum(job.busy for _, jobs in found.values() for job in jobs)


@pytest.mark.slow
@pytest.mark.parametrize(("config", "bar"), [("64", 155_000), ("128", 105_000)])
def test_dead_channels_that_stay_cost_no_more_than_their_bar(
    config: str, bar: int, zoo_model
) -> None:
    model = zoo_model("mlperf_vww_96_int8")
    whole, fewer = (
        predict_program(compile_model(model, config, eliminate=eliminate, has_tables=True))[0]
        for eliminate in (False, True)
    )
    assert fewer < whole <= bar


@pytest.mark.nightly
@pytest.mark.parametrize("name", BARS)
def test_no_convolution_of_the_models_is_wide(name: str, zoo_model) -> None:
    found = lists(compile_model(zoo_model(name), "64"))
    kinds = {JobKind.CONV, JobKind.DEPTHWISE}
    windows = [job for jobs, _ in found for job in jobs if job.kind in kinds]
    assert windows
    assert not any(job.flags & JobFlag.WIDE for job in windows)


@pytest.mark.parametrize(("packed", "free_words"), [(JobFlag(0), 2), (JobFlag.PACKED, 4)])
def test_wide_results_cost_nothing_beside_enough_words(packed: JobFlag, free_words: int) -> None:
    beats = free_words // 2

    def operations(words: int, interval: int) -> int:
        fields = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0) | {
            **{"kind": JobKind.CONV, "flags": packed, "groups": 1, "interval": interval},
            **{"output_rows": 1, "output_columns": 1000, "input_rows": 1, "kernel_rows": 1},
            **{
                "last_beats": beats,
                "stride_rows": 1,
                "dilation_rows": 1,
                "row_words": words,
                "group_words": words,
            },
        }
        return job_work(EngineJob(**fields), 128 if packed else 64).cycles

    assert operations(free_words, 2 * beats) == operations(free_words, beats)
    assert operations(1, 2 * beats) > 1.99 * operations(1, beats)


def test_a_model_of_the_cpu_has_no_list() -> None:
    total, found = predict_program(
        compile_model(random_models.single_operator("SOFTMAX", 1).model, "64")
    )
    assert total > 0
    assert found == {}


def job(**fields: int) -> EngineJob:
    """Give a convolution of 1x1 whose other fields are 0 or 1."""
    basis = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0)
    ones = ("groups", "input_rows", "output_rows", "kernel_rows", "stride_rows", "dilation_rows")
    ones += ("interval", "last_beats")
    return EngineJob(**basis | dict.fromkeys(ones, 1) | {"kind": JobKind.CONV} | fields)


def test_a_transfer_moves_only_when_no_result_is_written() -> None:
    # 1000 lines are loaded beside 2000 cycles whose results leave no cycle, half, or nearly all.
    load = EngineTransfer(0, 0, 16 * 1000, 0, 0)
    ends = []
    for words in (1, 2, 8):
        first = job(output_columns=2000 // words, row_words=words, group_words=words)
        last = job(output_columns=8, row_words=1, group_words=1, wait_transfers=1)
        _, (one, other) = predict_list([first, last], [load], 64)
        assert one.busy == 2000
        ends.append(other.start + other.transfers)
        assert other.transfers == 0 or words == 1
    # DRAM can fill a FIFO before the job ends; the rest, a line per cycle, comes then.
    assert 2900 < ends[0] < 3250
    assert max(ends[1:]) < 2200


@pytest.mark.parametrize(("words", "line_cycles"), [(3, 6), (4, 4), (6, 6), (8, 4), (10, 5)])
def test_a_conversion_stops_while_results_are_written(words: int, line_cycles: int) -> None:
    # Two beats of results in so many cycles. A line is converted in 4 cycles; if it comes when a
    # result does, it waits for both. 3 and 6 as measured in the simulated system: mcunet_vww.
    lines = 600
    load = EngineTransfer(0, 0, 16 * lines, 0, TransferFlag.FLOAT)
    fields = {"flags": JobFlag.PACKED, "last_beats": 2, "row_words": words, "group_words": words}
    first = job(**fields, output_columns=1200 // words)
    last = job(**fields, output_columns=1, wait_transfers=1)
    _, (one, other) = predict_list([first, last], [load], 128)
    beside = one.busy / line_cycles
    left = (other.start + other.transfers - one.end) / 4
    assert left > 100
    # The first of them comes up to a hundred cycles after the first operation.
    assert -10 < lines - beside - left < 45


def test_loads_and_stores_take_their_time() -> None:
    """Compare with the times that LiteDRAM of the simulated system needs."""
    nothing = job(output_columns=1, row_words=1, group_words=1)
    lines = 600
    without, _ = predict_list([nothing], [], 64)
    for bit, extra in ((0, 30), (1 << 31, 35)):
        moved = EngineTransfer(0, 0, 16 * lines | bit, 0, 0)
        both, _ = predict_list([nothing], [moved], 64)
        seconds, _ = predict_list([nothing], [moved, moved], 64)
        assert abs(seconds - both - 16 * lines / DDR3_QUARTER_RATE.bytes_per_cycle - extra) < 8
        assert both > without


def test_weights_and_transfers_take_turns_at_the_port() -> None:
    # 123 lines are loaded beside 1000 lines of weights: they wait for turns of 64 words.
    load = EngineTransfer(0, 0, 16 * 123, 0, 0)
    small = job(output_columns=50, row_words=10, group_words=10, wait_transfers=1)
    large = job(output_columns=50, row_words=250, group_words=250, wait_transfers=1)
    _, (first, second) = predict_list([small, large], [load], 64)
    assert 200 < first.start + first.transfers < 400
    assert second.weights > 300


def test_a_transfer_waits_for_results_of_groups_whose_weights_come_later() -> None:
    # The results of 6 groups leave no cycle for the load's lines, though only two are known at
    # first; the last job waits for the load.
    load = EngineTransfer(0, 0, 16 * 200, 1, 0)
    nothing = job(output_columns=1, row_words=1, group_words=1)
    full = job(output_columns=1000, row_words=1, group_words=1, groups=6)
    last = job(output_columns=1, row_words=1, group_words=1, wait_transfers=1)
    _, (_, _, third) = predict_list([nothing, full, last], [load], 64)
    assert 90 < third.transfers < 230


def drawn_list(rng: random.Random, count: int) -> tuple[list[EngineJob], list[EngineTransfer]]:
    """Draw jobs that wait for weights, for transfers, or for nothing, and the transfers."""
    jobs = [
        job(
            output_columns=rng.randint(1, 300),
            row_words=(words := rng.randint(1, 200)),
            group_words=words,
            groups=rng.randint(1, 5),
            wait_transfers=number // 2,
        )
        for number in range(count)
    ]
    transfers = [
        EngineTransfer(0, 0, 16 * rng.randint(1, 400) | rng.choice((0, 1 << 31)), number, 0)
        for number in range(count // 2)
    ]
    return jobs, transfers


@pytest.mark.parametrize("seed", range(5))
def test_threads_with_other_jobs_are_those_of_a_list_of_them(seed: int) -> None:
    rng = random.Random(seed)
    jobs, transfers = drawn_list(rng, 8)
    threads = Threads(jobs, transfers, 64)
    threads.run()
    for number in range(8):
        other = dataclasses.replace(jobs[number], output_columns=rng.randint(1, 300))
        changed = [*jobs[:number], other, *jobs[number + 1 :]]
        assert threads.exchanged({number: other}).run() == Threads(changed, transfers, 64).run()


@pytest.mark.parametrize("seed", range(5))
def test_other_jobs_are_given_up_only_if_their_list_takes_longer(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = []
    end = Likeness.end

    def noted(likeness: Likeness, course: Course) -> float:
        known.append(end(likeness, course))
        return known[-1]

    monkeypatch.setattr(Likeness, "end", noted)
    rng = random.Random(seed)
    jobs, transfers = drawn_list(rng, 40)
    threads = Threads(jobs, transfers, 64)
    total = threads.cycles()
    assert total is not None
    for number in range(20):
        other = dataclasses.replace(jobs[number], output_columns=rng.randint(1, 300))
        changed = [*jobs[:number], other, *jobs[number + 1 :]]
        cycles, _ = Threads(changed, transfers, 64).run()
        for limit in (total, cycles - 1, cycles):
            found = threads.exchanged({number: other}).cycles(limit)
            assert found == (cycles if cycles <= limit else None)
    assert any(known)
