"""A simulation as a timeline in the Trace Event Format, which Perfetto and Chrome show.

One microsecond there is one cycle here.

Notes
-----
Ref: Trace Event Format, Google, 2016: complete events (``X``) and metadata (``M``).
"""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from kiwicha.contract.engine import LINE_BYTES, EngineCall
from kiwicha.program.engine_list import stream_bytes
from kiwicha.program.image import Program
from kiwicha.program.parts import Step
from kiwicha.program.step_lists import list_of
from kiwicha.sim.profile.timestamps import ListTimestamps, StepTimestamps, timestamps
from kiwicha.sim.soc.probes import Bit
from kiwicha.sim.verilator.activity import Activity, Span

__all__ = ["Slice", "Track", "first_cycle", "timeline", "trace_events"]

_JOIN_CYCLES = 24
"""Words of one request come with pauses, refresh included; shorter ones are not shown."""
_PROCESS = 1


class Track(enum.StrEnum):
    """Rows of the timeline, from above."""

    CPU = "CPU steps"
    JOBS = "engine jobs"
    STALLS = "stalls"
    WEIGHTS = "weight loads"
    READS = "DMA reads"
    WRITES = "DMA writes"


@dataclass(frozen=True)
class Slice:
    """Something that took a while.

    Parameters
    ----------
    track : Track
        Where it is shown.
    name : str
        Its layer, or the cause of a stall.
    start, end : int
        Cycles from the beginning of the first inference.
    details : str
        More about it.
    """

    track: Track
    name: str
    start: int
    end: int
    details: str


def timeline(
    activity: Activity, program: Program, step_cycles: Sequence[Sequence[int]]
) -> list[list[Slice]]:
    """Return what happened in each inference, track by track.

    Parameters
    ----------
    activity : Activity
        Of the simulation.
    program : Program
        What ran.
    step_cycles : sequence of sequence of int
        As the firmware counted them.
    """
    origin = first_cycle(activity, program, step_cycles)
    found = []
    for steps in timestamps(activity, program, step_cycles):
        slices = [
            Slice(track, name, start - origin, end - origin, details)
            for track, name, (start, end), details in _inference(activity, program, steps)
        ]
        order = list(Track)
        found.append(sorted(slices, key=lambda item: (order.index(item.track), item.start)))
    return found


def first_cycle(activity: Activity, program: Program, step_cycles: Sequence[Sequence[int]]) -> int:
    """Return the cycle of the simulation in which `timeline` begins; parameters as there."""
    return timestamps(activity, program, step_cycles)[0][0].span[0]


def trace_events(inferences: Sequence[Sequence[Slice]], title: str) -> dict[str, Any]:
    """Return the JSON object of a trace.

    Parameters
    ----------
    inferences : sequence of sequence of Slice
        From `timeline`.
    title : str
        What ran.
    """
    tracks = list(Track)
    events: list[dict[str, Any]] = [_metadata("process_name", 0, name=title)]
    for number, track in enumerate(tracks):
        events.append(_metadata("thread_name", number, name=track.value))
        events.append(_metadata("thread_sort_index", number, sort_index=number))
    for number, slices in enumerate(inferences):
        for item in slices:
            events.append({
                "ph": "X",
                "pid": _PROCESS,
                "tid": tracks.index(item.track),
                "ts": item.start,
                "dur": item.end - item.start,
                "name": item.name,
                "cat": item.track.value,
                "args": {
                    "inference": number,
                    "cycles": item.end - item.start,
                    "details": item.details,
                },
            })
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"1 us": "1 cycle"}}


def _metadata(kind: str, track: int, **arguments: Any) -> dict[str, Any]:
    return {"ph": "M", "pid": _PROCESS, "tid": track, "name": kind, "args": arguments}


_Found = tuple[Track, str, Span, str]


def _inference(
    activity: Activity, program: Program, steps: Sequence[StepTimestamps]
) -> Iterator[_Found]:
    for step, times in zip(program.steps, steps, strict=True):
        name = _layer_name(program, step.layer)
        if times.engine is None:
            yield Track.CPU, name, times.span, step.kernel.name
            continue
        assert isinstance(step.params, EngineCall)
        if not step.params.overlapped_steps:
            yield Track.CPU, "waits for the engine", times.span, f"from {name} on"
        yield from _list(activity, program, step, times.engine)


def _layer_name(program: Program, number: int) -> str:
    layer = program.layers[number]
    return f"{layer.index} {layer.operator}"


def _list(
    activity: Activity, program: Program, step: Step, engine: ListTimestamps
) -> Iterator[_Found]:
    jobs = list_of(program, step).jobs
    names = [_layer_name(program, step.layer + job.layer) for job in jobs]
    for number, job in enumerate(jobs):
        span = engine.job_starts[number], engine.job_ends[number]
        yield Track.JOBS, names[number], span, f"job {number}: {job.groups} groups"
    stalls = {
        "waits for weights": Bit.WAITS_WEIGHTS,
        "waits for activations": Bit.WAITS_TRANSFERS,
        "waits for the requantizer": Bit.WAITS_REQUANTIZER,
    }
    for cause, bit in stalls.items():
        for span in _within(activity.spans(activity.is_set(bit)), engine.span):
            yield Track.STALLS, cause, span, ""
    sizes = [stream_bytes(job) // LINE_BYTES for job in jobs]
    for span, number in _weights(activity, engine.span, sizes):
        yield Track.WEIGHTS, names[number], span, f"weights of job {number}"
    moves = (
        (Track.READS, "descriptors", (Bit.READS_JOBS, Bit.READS_TRANSFERS)),
        (Track.READS, "activations", (Bit.READS_DATA,)),
        (Track.WRITES, "activations", (Bit.WRITES_DATA,)),
    )
    for track, name, bits in moves:
        active = np.logical_or.reduce([activity.is_set(bit) for bit in bits])
        for span in _within(activity.spans(active, gap=_JOIN_CYCLES), engine.span):
            words = np.diff(activity.active_cycles(active, np.array(span)))[0]
            yield track, name, span, f"{words * LINE_BYTES:,} bytes"


def _within(spans: Sequence[Span], whole: Span) -> list[Span]:
    return [span for span in spans if span[0] >= whole[0] and span[1] <= whole[1]]


def _weights(activity: Activity, whole: Span, words: Sequence[int]) -> Iterator[tuple[Span, int]]:
    """Yield when weights came, and for which job: they come in the order of jobs."""
    active = activity.is_set(Bit.READS_WEIGHTS)
    before = int(activity.active_cycles(active, np.array(whole[:1]))[0])
    firsts = [before + count for count in accumulate(words, initial=0)]
    starts = {
        number: activity.cycle_of(active, count)
        for number, (count, size) in enumerate(zip(firsts, words, strict=False))
        if size
    }
    for span in _within(activity.spans(active, gap=_JOIN_CYCLES), whole):
        cuts = [span[0], *(at for at in starts.values() if span[0] < at < span[1]), span[1]]
        for start, end in pairwise(cuts):
            yield (start, end), max(n for n, at in starts.items() if at <= start)
