"""The log of a simulation, read back."""

import resource
import struct

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.soc.probes import Bit, Count, verilog_lines
from kiwicha.sim.verilator import image_run
from kiwicha.sim.verilator.activity import Activity
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.zoo import models as zoo

_TURNS, _TRACED_INFERENCES, _MOST_RATIO = 10, 5, 1.10


def record(cycle: int, engine: int = 0, progress: int = 0, cpu: tuple[int, int] = (0, 0)) -> bytes:
    return struct.pack("<QQIIII", cycle, engine, progress, *cpu, 0)


def word(*bits: Bit, jobs: int = 0, transfers: int = 0) -> int:
    counts = jobs << Count.JOBS_DONE.shift | transfers << Count.TRANSFERS_DONE.shift
    return sum(1 << bit for bit in bits) | counts


LOG = b"".join([
    record(0),
    record(10, word(Bit.RUNNING)),
    record(14, word(Bit.RUNNING, Bit.BUSY)),
    record(20, word(Bit.RUNNING, jobs=1)),
    record(22, word(Bit.RUNNING, Bit.BUSY, jobs=1)),
    record(30, word(Bit.RUNNING, jobs=3, transfers=2)),
    record(40, word(jobs=3, transfers=2)),
    record(45, word(jobs=3, transfers=2), progress=1, cpu=(9, 4)),
    record(60, word(jobs=3, transfers=2), progress=2, cpu=(12, 4)),
    record(70, word(jobs=3, transfers=2), progress=2, cpu=(22, 5)),
])


@pytest.fixture
def activity() -> Activity:
    return Activity.from_bytes(LOG + b"cut")


def test_spans_are_those_in_which_a_bit_is_set(activity: Activity) -> None:
    assert activity.lists() == [(10, 40)]
    busy = activity.is_set(Bit.BUSY)
    assert activity.spans(busy) == [(14, 20), (22, 30)]
    assert activity.spans(busy, gap=2) == [(14, 30)]
    assert activity.end == 70


def test_a_span_that_the_log_does_not_end_ends_with_it() -> None:
    cut = Activity.from_bytes(record(3, word(Bit.BUSY)) + record(8, word(Bit.BUSY)))
    assert cut.spans(cut.is_set(Bit.BUSY)) == [(3, 8)]


def test_cycles_are_counted_up_to_any_cycle(activity: Activity) -> None:
    at = np.array([0, 14, 15, 20, 21, 26, 70])
    assert activity.active_cycles(activity.is_set(Bit.BUSY), at).tolist() == [0, 0, 1, 6, 6, 10, 14]


def test_counts_tell_when_they_grew(activity: Activity) -> None:
    jobs, transfers = (activity.count(count) for count in Count)
    assert activity.increments(jobs, (10, 40)) == [20, 30, 30]
    assert activity.increments(transfers, (10, 40)) == [30, 30]
    assert activity.increments(jobs, (20, 40)) == [30, 30]
    assert activity.step_ends() == [45, 60]


def test_words_of_the_cpu_are_spread_between_records(activity: Activity) -> None:
    reads, writes = activity.cpu_bytes(np.array([45, 60, 65, 70]))
    assert reads.tolist() == [16 * 9, 16 * 12, 16 * 17, 16 * 22]
    assert writes.tolist() == [64, 64, 64, 80]


def test_cycles_are_the_inverse_of_counts(activity: Activity) -> None:
    busy = activity.is_set(Bit.BUSY)
    assert [activity.cycle_of(busy, count) for count in (0, 5, 6, 13, 14)] == [14, 19, 22, 29, 70]


def test_a_system_without_engine_reports_zeros() -> None:
    assert verilog_lines(has_engine=False) == "wire [63:0] activity_engine = 64'd0;\n"
    assert verilog_lines(has_engine=True).count(",") == 2 + len(Count) + len(Bit) - 1


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_log_costs_a_tenth_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate with and without it in turn; of each, the least time of the processor counts."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    simulate_once = image_run._simulate

    def timed(command: list[str], progress: image_run.Progress | None) -> dict[str, int]:
        at = command.index("--activity")
        without = [*command[:at], *command[at + 2 :]]
        for number in range(_TURNS):
            has_log = bool(number % 2)
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            end = simulate_once(command if has_log else without, progress)
            after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            seconds[has_log].append(after - before)
        return end

    monkeypatch.setattr(image_run, "_simulate", timed)
    program = compile_model(zoo.resolve(zoo.DEMO)[1], "64")
    run_program(program, [bytes(program.inputs[0].ref.bytes)], inferences=_TRACED_INFERENCES)
    least, plain = min(seconds[True]), min(seconds[False])
    assert least <= _MOST_RATIO * plain, f"{least:.2f} s with the log, {plain:.2f} s without"
