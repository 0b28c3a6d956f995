"""Weight streams as they are, or coded: the choice, and what it changes in a list."""

import dataclasses
from collections.abc import Mapping
from functools import lru_cache

from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.cost.timeline import Threads
from kiwicha.compiler.engine.ir.engine_list import MAX_LIST_CYCLES, EngineList
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import EngineJob, JobFlag, JobKind
from kiwicha.contract.goal import Goal
from kiwicha.contract.moves import AnyJob
from kiwicha.program.codec.streams import Shape, encode
from kiwicha.program.unit_rows import is_unit_job
from kiwicha.program.weight_streams import stream_shape

__all__ = ["code_weights"]

_DECODER_SLACK = 1.25
"""Decoding may take so much longer than predicted without costing time."""
_UNNOTICED_CYCLES = 2
"""What it may cost then all the same: less than predictions are sure of, for streams that arrive as
fast as such a decoder takes them."""


def code_weights(raw: EngineList, config: Config, goal: Goal) -> EngineList:
    """Return a list in which weight streams are coded where that serves the goal.

    Streams that would not be shorter stay as they are, and tables for jobs behind theirs. With
    `Goal.SIZE` all others are coded if the list then ends in time. With `Goal.CYCLES`, or if it
    does not, each of them, those that save most first, if the list then takes no longer even with a
    decoder that is a quarter slower; but not the list's first, which no job hides.

    Parameters
    ----------
    raw : EngineList
        With streams that are not coded.
    config : Config
        With an engine; one that has no decoder gets the list as it is.
    goal : Goal
        What counts first.
    """
    if not config.has_codec:
        return raw
    coded = _coded_streams(raw, config.engine_macs)
    found = _with_streams(raw, coded)
    if goal is Goal.CYCLES or _cycles(found, config) > MAX_LIST_CYCLES:
        found = _with_streams(raw, _without_loss(raw, coded, config))
    found.verify()
    return found


@lru_cache(maxsize=1024)
def _encoded(stream: bytes, shape: Shape) -> bytes:
    """Return a coded stream; a search compiles a model many times, with the same streams."""
    return encode(stream, shape)


def _cycles(found: EngineList, config: Config) -> int:
    """Return the predicted cycles of a list."""
    cycles, _ = predict_list(
        found.jobs,
        found.engine_transfers,
        config.engine_macs,
        config.requantizer_cycles,
        config.memory,
    )
    return cycles


def _coded_streams(raw: EngineList, macs: int) -> dict[int, bytes]:
    """Return by offset the coded form of streams that get shorter; that which saves most first."""
    coded = {}
    saved = {}
    for job in raw.weighted_jobs:
        start = job.weights_offset
        has_tables = job.kind == JobKind.ADD and job.flags & JobFlag.FUSED
        if start in saved or has_tables:
            continue
        stream = raw.streams[start : start + job.weights_bytes]
        coded[start] = _encoded(stream, stream_shape(job, macs))
        saved[start] = len(stream) - len(coded[start])
    order = sorted(saved, key=lambda start: (-saved[start], start))
    return {start: coded[start] for start in order if saved[start] > 0}


def _without_loss(raw: EngineList, coded: Mapping[int, bytes], config: Config) -> dict[int, bytes]:
    """Return those of some coded streams that cost no time, each beside those before."""
    if any(map(is_unit_job, raw.jobs)):
        return _without_loss_beside(raw, coded, config)
    threads = Threads(
        raw.jobs,
        raw.engine_transfers,
        config.engine_macs,
        config.requantizer_cycles,
        memory=config.memory,
        decoder_slack=_DECODER_SLACK,
    )
    least = threads.cycles()
    assert least is not None
    chosen = {}
    for start, stream in coded.items():
        readers = {
            number: _coded(job, stream)
            for number, job in enumerate(raw.jobs)
            if isinstance(job, EngineJob) and job.weights_offset == start
        }
        if 0 in readers:
            continue
        candidate = threads.exchanged(readers)
        cycles = candidate.cycles(least + _UNNOTICED_CYCLES)
        if cycles is not None:
            least, threads = cycles, candidate
            chosen[start] = stream
    return chosen


def _without_loss_beside(
    raw: EngineList, coded: Mapping[int, bytes], config: Config
) -> dict[int, bytes]:
    """Return the same for a list with jobs of the depthwise unit, all streams tried together."""
    first = raw.weighted_jobs[0].weights_offset
    chosen = {start: stream for start, stream in coded.items() if start != first}
    is_good = _cycles(_with_streams(raw, chosen), config) <= _cycles(raw, config)
    return chosen if is_good else {}


def _coded(job: EngineJob, stream: bytes) -> EngineJob:
    return dataclasses.replace(job, flags=job.flags | JobFlag.CODED, weights_bytes=len(stream))


def _with_streams(raw: EngineList, coded: Mapping[int, bytes]) -> EngineList:
    """Return the list with some streams, by their offset, replaced."""
    streams = bytearray()
    starts: dict[int, int] = {}
    jobs: list[AnyJob] = []
    for job in raw.jobs:
        if not isinstance(job, EngineJob):
            jobs.append(job)
            continue
        start = job.weights_offset
        stream = coded.get(start)
        if start not in starts:
            starts[start] = len(streams)
            unchanged = raw.streams[start : start + job.weights_bytes]
            streams += unchanged if stream is None else stream
        changed = job if stream is None else _coded(job, stream)
        jobs.append(dataclasses.replace(changed, weights_offset=starts[start]))
    return dataclasses.replace(raw, jobs=tuple(jobs), streams=bytes(streams))
