"""Weight streams as they are, or coded: the choice, and what it changes in a list."""

import dataclasses
from collections.abc import Mapping
from functools import lru_cache

from kiwicha.compiler.engine.codegen.stream_exchange import Form, with_forms
from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.cost.timeline import Threads
from kiwicha.compiler.engine.ir.engine_list import MAX_LIST_CYCLES, EngineList
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import BLOCK_KINDS, EngineJob, JobFlag, JobKind
from kiwicha.contract.goal import Goal
from kiwicha.program.codec import blocks
from kiwicha.program.codec.streams import Shape, encode
from kiwicha.program.unit_rows import is_unit_job
from kiwicha.program.weight_streams import stream_shape

__all__ = ["code_weights"]

_DECODER_SLACK = 1.25
"""Decoding may take so much longer than predicted without costing time."""
_UNNOTICED_CYCLES = 2
"""What it may cost then all the same: less than predictions are sure of, for streams that arrive as
fast as such a decoder takes them."""
_TRIED_JOBS = 300_000
"""Jobs whose cycles may be predicted for the choice of a list's streams. A list of some hundred
streams takes less; with more of them, several that save about as much are tried together."""


def code_weights(raw: EngineList, config: Config, goal: Goal) -> EngineList:
    """Return a list in which weight streams are coded where that serves the goal.

    Streams that would not be shorter stay as they are, and tables for jobs behind theirs. With
    `Goal.SIZE` all others are coded if the list then ends in time. With `Goal.CYCLES`, or if it
    does not, each of them, those that save most first, if the list then takes no longer. Without
    blocks the decoder must be allowed to be a quarter slower, and the list's first stream stays as
    it is: no job hides it.

    Parameters
    ----------
    raw : EngineList
        With streams that are not coded.
    config : Config
        With an engine; one that has no decoder gets the list as it is. So does a list in the arena.
    goal : Goal
        What counts first.
    """
    if not config.has_codec or raw.computed_bytes:
        return raw
    coded = _coded_streams(raw, config)
    found = with_forms(raw, coded)
    if goal is Goal.CYCLES or _cycles(found, config) > MAX_LIST_CYCLES:
        found = with_forms(raw, _without_loss(raw, coded, config))
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
        has_blocks=config.has_blocks,
    )
    return cycles


def _coded_streams(raw: EngineList, config: Config) -> dict[int, Form]:
    """Return by offset the coded form of streams that get shorter; that which saves most first."""
    coded = {}
    saved = {}
    for job in raw.weighted_jobs:
        start = job.weights_offset
        has_tables = job.kind == JobKind.ADD and job.flags & JobFlag.FUSED
        if start in saved or has_tables:
            continue
        stream = raw.streams[start : start + job.weights_bytes]
        form = _form(job, stream, config)
        if form is not None:
            coded[start] = form
            saved[start] = len(stream) - len(form.stream)
    order = sorted(saved, key=lambda start: (-saved[start], start))
    return {start: coded[start] for start in order if saved[start] > 0}


def _form(job: EngineJob, stream: bytes, config: Config) -> Form | None:
    """Return the coded form of a job's stream; None if the code has none for it."""
    shape = stream_shape(job, config.engine_macs)
    if not config.has_blocks:
        return Form(_encoded(stream, shape), _coded)
    if job.kind not in BLOCK_KINDS:
        return None
    is_unsigned = bool(job.flags & JobFlag.UNSIGNED)
    found = _in_blocks(stream, shape, job.weight_zero_point, is_unsigned=is_unsigned)
    if found is None:
        return None
    zero_point, coded = found

    def change(job: EngineJob) -> EngineJob:
        flags = JobFlag(job.flags) & ~JobFlag.UNSIGNED
        return dataclasses.replace(
            _coded(job), flags=flags | JobFlag.CODED, weight_zero_point=zero_point
        )

    return Form(coded, change)


@lru_cache(maxsize=1024)
def _in_blocks(
    stream: bytes, shape: Shape, zero_point: int, *, is_unsigned: bool
) -> tuple[int, bytes] | None:
    """Return a stream in blocks and the zero point that makes it short; None if it has no bytes."""
    weights = blocks.weights_of(stream, shape, zero_point, is_unsigned=is_unsigned)
    if weights is None:
        return None
    centres = sorted({0, -round(float(weights.mean()))}, key=abs)
    found = [
        (centre, blocks.encode(blocks.moved(stream, shape, weights, centre), shape))
        for centre in centres
    ]
    return min(found, key=lambda item: len(item[1]))


def _without_loss(raw: EngineList, coded: Mapping[int, Form], config: Config) -> dict[int, Form]:
    """Return those of some coded streams that cost no time, each beside those before."""
    if any(map(is_unit_job, raw.jobs)):
        return _without_loss_beside(raw, coded, config)
    threads = Threads(
        raw.jobs,
        raw.engine_transfers,
        config.engine_macs,
        config.requantizer_cycles,
        memory=config.memory,
        has_blocks=config.has_blocks,
        decoder_slack=1.0 if config.has_blocks else _DECODER_SLACK,
    )
    least = threads.cycles()
    assert least is not None
    readers: dict[int, list[tuple[int, EngineJob]]] = {start: [] for start in coded}
    for number, job in enumerate(raw.jobs):
        if isinstance(job, EngineJob) and job.weights_offset in readers:
            readers[job.weights_offset].append((number, job))
    first_jobs = {start for start, found in readers.items() if found and found[0][0] == 0}
    starts = [start for start in coded if config.has_blocks or start not in first_jobs]
    together = -(-len(starts) * len(raw.jobs) // _TRIED_JOBS)
    chosen: dict[int, Form] = {}
    for first in range(0, len(starts), max(together, 1)):
        batch = starts[first : first + together]
        candidate = threads.exchanged({
            number: coded[start].job(job) for start in batch for number, job in readers[start]
        })
        cycles = candidate.cycles(least + _UNNOTICED_CYCLES)
        if cycles is not None:
            least, threads = cycles, candidate
            chosen.update((start, coded[start]) for start in batch)
    return chosen


def _without_loss_beside(
    raw: EngineList, coded: Mapping[int, Form], config: Config
) -> dict[int, Form]:
    """Return the same for a list with jobs of the depthwise unit, all streams tried together."""
    first = raw.weighted_jobs[0].weights_offset
    chosen = {start: form for start, form in coded.items() if start != first}
    is_good = _cycles(with_forms(raw, chosen), config) <= _cycles(raw, config)
    return chosen if is_good else {}


def _coded(job: EngineJob) -> EngineJob:
    return dataclasses.replace(job, flags=job.flags | JobFlag.CODED)
