"""The timeline of the simulated engine."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import Compilation
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.program import Where
from kiwicha.sim.profile.timeline import Slice, Track, first_cycle, timeline, trace_events
from kiwicha.sim.soc.probes import Bit
from kiwicha.sim.verilator.program_run import SimulatedRun

pytestmark = pytest.mark.verilator

_LENGTH_SHARE = 0.01
"""By which the log may exceed what the CPU counts: it holds what lies between the steps, too."""


@pytest.fixture(scope="session")
def slices(compilation: Compilation, result: SimulatedRun) -> list[Slice]:
    (found,) = timeline(result.activity, compilation.program, result.step_cycles)
    return found


def on(slices: list[Slice], track: Track) -> list[Slice]:
    return [item for item in slices if item.track is track]


def test_jobs_follow_each_other_under_the_names_of_their_layers(
    compilation: Compilation, result: SimulatedRun, slices: list[Slice]
) -> None:
    jobs = on(slices, Track.JOBS)
    assert len(jobs) == sum(len(ends) for ends in result.job_ends[0])
    names = [
        f"{layer.index} {layer.operator}"
        for layer in compilation.program.layers
        if layer.where is Where.ENGINE
    ]
    assert {job.name for job in jobs} <= set(names)
    assert len({job.name for job in jobs}) > len(names) / 2
    for before, after in pairwise(jobs):
        assert before.end <= after.start < after.end


def test_the_cpu_has_a_slice_for_each_of_its_steps(
    compilation: Compilation, result: SimulatedRun, slices: list[Slice]
) -> None:
    steps = [
        (f"{compilation.program.layers[step.layer].index} ", spent)
        for step, spent in zip(compilation.program.steps, result.step_cycles[0], strict=True)
        if not isinstance(step.params, EngineCall)
    ]
    shown = [item for item in on(slices, Track.CPU) if item.name != "waits for the engine"]
    assert [item.end - item.start for item in shown] == [spent for _, spent in steps]
    assert all(item.name.startswith(name) for item, (name, _) in zip(shown, steps, strict=True))


def test_the_timeline_begins_at_its_first_cycle(
    compilation: Compilation, result: SimulatedRun, slices: list[Slice]
) -> None:
    origin = first_cycle(result.activity, compilation.program, result.step_cycles)
    writes = result.activity.spans(result.activity.is_set(Bit.WRITES_DATA))
    assert origin + on(slices, Track.WRITES)[0].start == writes[0][0]
    assert min(item.start for item in slices) == 0


def test_weights_come_before_the_job_that_needs_them_ends(slices: list[Slice]) -> None:
    ends: dict[str, int] = {}
    for job in on(slices, Track.JOBS):
        ends[job.name] = job.end
    loads = on(slices, Track.WEIGHTS)
    assert {load.name for load in loads} == set(ends)
    assert all(load.end <= ends[load.name] for load in loads)


@pytest.mark.parametrize(
    ("track", "bits"),
    [
        (Track.READS, (Bit.READS_JOBS, Bit.READS_TRANSFERS, Bit.READS_DATA)),
        (Track.WRITES, (Bit.WRITES_DATA,)),
    ],
)
def test_slices_hold_all_bytes(
    result: SimulatedRun, slices: list[Slice], track: Track, bits: tuple[Bit, ...]
) -> None:
    activity = result.activity
    words = sum(
        int(activity.active_cycles(activity.is_set(bit), np.array([activity.end]))[0])
        for bit in bits
    )
    shown = [int(item.details.split()[0].replace(",", "")) for item in on(slices, track)]
    assert sum(shown) == 16 * words


def test_stalls_are_those_counted(result: SimulatedRun, slices: list[Slice]) -> None:
    waits = (Bit.WAITS_WEIGHTS, Bit.WAITS_REQUANTIZER, Bit.WAITS_TRANSFERS)
    at = np.array([result.activity.end])
    counted = sum(
        int(result.activity.active_cycles(result.activity.is_set(bit), at)[0]) for bit in waits
    )
    assert sum(item.end - item.start for item in on(slices, Track.STALLS)) == counted


def test_events_are_those_of_the_format(slices: list[Slice]) -> None:
    events = trace_events([slices, slices], "toy on 64")["traceEvents"]
    titles = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    assert titles == [track.value for track in Track]
    complete = [event for event in events if event["ph"] == "X"]
    assert len(complete) == 2 * len(slices)
    for event, item in zip(complete, slices, strict=False):
        assert (event["ts"], event["dur"]) == (item.start, item.end - item.start)
        assert titles[event["tid"]] == item.track.value


@pytest.mark.parametrize("track", Track)
def test_slices_of_a_track_follow_each_other(slices: list[Slice], track: Track) -> None:
    """Viewers draw what overlaps only if one lies in the other."""
    assert on(slices, track)
    for before, after in pairwise(on(slices, track)):
        assert before.start < before.end <= after.start


def test_the_timeline_is_as_long_as_the_inference(
    result: SimulatedRun, slices: list[Slice]
) -> None:
    length = max(item.end for item in slices) - min(item.start for item in slices)
    assert length == pytest.approx(result.last_cycles, rel=_LENGTH_SHARE)


def test_a_trace_is_what_viewers_read(slices: list[Slice]) -> None:
    """Ref: Trace Event Format, sections on complete and metadata events."""
    trace: dict[str, Any] = json.loads(json.dumps(trace_events([slices], "toy on 64")))
    assert trace["displayTimeUnit"] in {"ms", "ns"}
    named = set()
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["args"], dict)
        assert all(event["args"])
        if event["ph"] == "M":
            assert event["name"] in {"process_name", "thread_name", "thread_sort_index"}
            named |= {event["tid"]} if event["name"] == "thread_name" else set()
            continue
        assert event["ph"] == "X"
        assert event["tid"] in named
        assert event["name"]
        assert event["cat"]
        assert isinstance(event["ts"], int)
        assert isinstance(event["dur"], int)
        assert event["ts"] >= 0
        assert event["dur"] > 0
