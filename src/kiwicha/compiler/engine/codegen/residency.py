"""Weights that stay on chip from inference to inference: which streams, and the list for them."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.cost.timeline import Threads
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import EngineJob, JobFlag
from kiwicha.contract.moves import AnyJob
from kiwicha.program.codec.streams import split
from kiwicha.program.weight_streams import stream_shape

__all__ = ["keep_weights", "keep_weights_of_one"]


@dataclass(frozen=True)
class _Candidate:
    """A coded stream that could stay, and what its jobs read when it does."""

    numbers: tuple[int, ...]
    words: int
    saved_bytes: int
    parameters: bytes


def keep_weights_of_one(
    coded: Sequence[EngineList], raw: Sequence[EngineList], config: Config
) -> tuple[EngineList, ...]:
    """Return the lists of a model, of which the one that gains most by it keeps weights on chip.

    Parameters
    ----------
    coded : sequence of EngineList
        The lists.
    raw : sequence of EngineList
        The same with streams that are not coded.
    config : Config
        With an engine, or without.
    """
    found = list(coded)
    if config.resident_words:
        kept = [keep_weights(*both, config) for both in zip(coded, raw, strict=True)]
        gains = [gain for _, gain in kept]
        best = max(range(len(kept)), key=gains.__getitem__, default=0)
        if kept and gains[best]:
            found[best] = kept[best][0]
    return tuple(found)


def keep_weights(coded: EngineList, raw: EngineList, config: Config) -> tuple[EngineList, int]:
    """Return a list that keeps weights on chip, and the cycles that it gains when they are there.

    Streams stay that save most bytes for a word of the engine's memory, those first, if the list
    then takes fewer cycles. Only lists with one start keep any.

    Parameters
    ----------
    coded : EngineList
        The list.
    raw : EngineList
        The same with streams that are not coded.
    config : Config
        With an engine.
    """
    if len(coded.parts) > 1 or coded.computed_bytes:
        return coded, 0
    threads = Threads(
        coded.jobs,
        coded.engine_transfers,
        config.engine_macs,
        config.requantizer_cycles,
        memory=config.memory,
        has_blocks=config.has_blocks,
    )
    without = least = threads.cycles()
    assert without is not None
    assert least is not None
    streams = bytearray(coded.streams)
    load, again = list(coded.jobs), list(coded.jobs)
    used = 0
    for item in _candidates(coded, raw, config):
        held = {
            number: _held(coded.jobs[number], used, len(streams), len(item.parameters))
            for number in item.numbers
        }
        candidate = threads.exchanged(held)
        cycles = candidate.cycles(least - 1)
        if used + item.words > config.resident_words or cycles is None:
            continue
        least, threads = cycles, candidate
        first = item.numbers[0]
        for number, job in held.items():
            load[number] = again[number] = job
        load[first] = _loading(coded.jobs[first], used)
        used += item.words
        streams += item.parameters
    if not used:
        return coded, 0
    found = dataclasses.replace(coded, jobs=tuple(load), again=tuple(again), streams=bytes(streams))
    found.verify()
    return found, without - least


def _candidates(coded: EngineList, raw: EngineList, config: Config) -> list[_Candidate]:
    """Return the streams that could stay, in the order in which they are tried."""
    readers: dict[int, list[int]] = {}
    for number, job in enumerate(coded.jobs):
        if isinstance(job, EngineJob) and job.flags & JobFlag.CODED:
            readers.setdefault(job.weights_offset, []).append(number)
    found = []
    for numbers in readers.values():
        job, stored = raw.jobs[numbers[0]], coded.jobs[numbers[0]]
        assert isinstance(job, EngineJob)
        assert isinstance(stored, EngineJob)
        stream = raw.streams[job.weights_offset :][: job.weights_bytes]
        parameters = split(stream, stream_shape(job, config.engine_macs))[0].tobytes()
        found.append(
            _Candidate(
                numbers=tuple(numbers),
                words=job.groups * job.group_words,
                saved_bytes=stored.weights_bytes - len(parameters),
                parameters=parameters,
            )
        )
    return sorted(found, key=lambda item: (-item.saved_bytes / item.words, item.numbers))


def _held(job: AnyJob, word: int, offset: int, size: int) -> EngineJob:
    """Return a job whose weights are there, from a word on; its stream has parameters only."""
    assert isinstance(job, EngineJob)
    flags = JobFlag(job.flags) & ~JobFlag.CODED | JobFlag.HELD
    return dataclasses.replace(
        job, flags=flags, resident_word=word, weights_offset=offset, weights_bytes=size
    )


def _loading(job: AnyJob, word: int) -> EngineJob:
    """Return a job that leaves its weights there."""
    assert isinstance(job, EngineJob)
    flags = JobFlag(job.flags) | JobFlag.HELD | JobFlag.LOADS
    return dataclasses.replace(job, flags=flags, resident_word=word)
