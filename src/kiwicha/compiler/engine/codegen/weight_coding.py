"""Weight streams as they are, or coded: the choice, and what it changes in a schedule."""

import dataclasses
from collections.abc import Mapping
from functools import lru_cache

from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.ir.run import MAX_LIST_CYCLES
from kiwicha.compiler.engine.schedule.schedule import Schedule
from kiwicha.contract.engine import EngineJob, JobFlag
from kiwicha.contract.goal import Goal
from kiwicha.program.codec.streams import Shape, encode
from kiwicha.program.weight_streams import stream_shape

__all__ = ["with_coded_streams"]

_DECODER_SLACK = 1.25
"""Decoding may take so much longer than predicted without costing time."""


def with_coded_streams(
    schedule: Schedule, macs: int, goal: Goal, requantizer_cycles: int = 1
) -> Schedule:
    """Return a schedule in which streams are coded where that serves the goal.

    Streams that would not be shorter stay as they are. With `Goal.SIZE` all others are coded if the
    list then ends in time. With `Goal.CYCLES`, or if it does not, each of them, those that save
    most first, if the list then takes no longer even with a decoder that is a quarter slower; but
    not the list's first, which no job hides.

    Parameters
    ----------
    schedule : Schedule
        With streams that are not coded.
    macs : int
        Products per cycle.
    goal : Goal
        What counts first.
    requantizer_cycles : int
        As `kiwicha.contract.cfu.Config.requantizer_cycles`.
    """
    coded = _coded_streams(schedule, macs)
    if goal is Goal.SIZE:
        found = _with_streams(schedule, coded)
        transfers = [planned.transfer for planned in found.transfers]
        if predict_list(found.jobs, transfers, macs, requantizer_cycles)[0] <= MAX_LIST_CYCLES:
            return found
    return _with_streams(schedule, _without_loss(schedule, macs, coded, requantizer_cycles))


@lru_cache(maxsize=1024)
def _encoded(raw: bytes, shape: Shape) -> bytes:
    """Return a coded stream; a search compiles a model many times, with the same streams."""
    return encode(raw, shape)


def _coded_streams(schedule: Schedule, macs: int) -> dict[int, bytes]:
    """Return by offset the coded form of streams that get shorter; that which saves most first."""
    coded = {}
    saved = {}
    for job in schedule.jobs:
        place = job.weights_offset
        if place in saved:
            continue
        raw = schedule.streams[place : place + job.weights_bytes]
        coded[place] = _encoded(raw, stream_shape(job, macs))
        saved[place] = len(raw) - len(coded[place])
    order = sorted(saved, key=lambda place: (-saved[place], place))
    return {place: coded[place] for place in order if saved[place] > 0}


def _without_loss(
    schedule: Schedule, macs: int, coded: Mapping[int, bytes], requantizer_cycles: int
) -> dict[int, bytes]:
    """Return those of some coded streams that cost no time, each beside those before."""
    transfers = [planned.transfer for planned in schedule.transfers]
    jobs = list(schedule.jobs)
    least, _ = predict_list(jobs, transfers, macs, requantizer_cycles)
    chosen = {}
    for place, stream in coded.items():
        if place == jobs[0].weights_offset:
            continue
        changed = [_coded(job, stream) if job.weights_offset == place else job for job in jobs]
        cycles, _ = predict_list(
            changed, transfers, macs, requantizer_cycles, decoder_slack=_DECODER_SLACK
        )
        if cycles <= least:
            least, jobs = cycles, changed
            chosen[place] = stream
    return chosen


def _coded(job: EngineJob, stream: bytes) -> EngineJob:
    return dataclasses.replace(job, flags=job.flags | JobFlag.CODED, weights_bytes=len(stream))


def _with_streams(schedule: Schedule, coded: Mapping[int, bytes]) -> Schedule:
    """Return the schedule with some streams, by their offset, replaced."""
    streams = bytearray()
    places: dict[int, int] = {}
    jobs = []
    for job in schedule.jobs:
        place = job.weights_offset
        stream = coded.get(place)
        if place not in places:
            places[place] = len(streams)
            raw = schedule.streams[place : place + job.weights_bytes]
            streams += raw if stream is None else stream
        changed = job if stream is None else _coded(job, stream)
        jobs.append(dataclasses.replace(changed, weights_offset=places[place]))
    return dataclasses.replace(schedule, jobs=tuple(jobs), streams=bytes(streams))
