"""Which weights stay on chip, and what inferences give while they do."""

import dataclasses
import functools

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.engine.codegen.residency import keep_weights, keep_weights_of_one
from kiwicha.compiler.engine.codegen.weight_coding import code_weights
from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.contract import configs
from kiwicha.contract.configs import RESIDENT_WORDS
from kiwicha.contract.engine import EngineCall, EngineJob, JobFlag
from kiwicha.contract.goal import Goal
from kiwicha.contract.moves import AnyJob
from kiwicha.program.engine_list import read_list
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from tests.support.models import random_networks


def lists_of(program: Program) -> list[tuple[list[EngineJob], list[EngineJob]]]:
    """Give the jobs of each list that keeps weights, and those for when they are there."""
    found = []
    for step in program.steps:
        call = step.params
        if not isinstance(call, EngineCall) or not call.is_resident:
            continue
        image = program.constants[call.image.offset :][: call.image.bytes]
        lists = (read_list(call, image, has_weights=there).jobs for there in (False, True))
        load, again = ([job for job in jobs if isinstance(job, EngineJob)] for jobs in lists)
        found.append((load, again))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_kept_weights_give_the_same_outputs(seed: int) -> None:
    model = random_networks.engine_network(seed).model
    usual, kept = (compile_model(model, name) for name in ("64", "64-blocks-resident"))
    sessions = Session(usual), Session(kept)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        inputs = [
            rng.integers(0, 256, tensor.ref.bytes).astype(np.uint8).tobytes()
            for tensor in usual.inputs
        ]
        expected, found = (session.run(inputs) for session in sessions)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other)


def test_words_are_loaded_once_and_apart() -> None:
    counts = 0
    for seed in range(4):
        program = compile_model(random_networks.engine_network(seed).model, "64-blocks-resident")
        found = lists_of(program)
        assert len(found) <= 1
        for load, again in found:
            used: list[int] = []
            for before, job in zip(load, again, strict=True):
                assert not job.flags & JobFlag.LOADS
                assert (job.flags & JobFlag.HELD) == (before.flags & JobFlag.HELD)
                if before.flags & JobFlag.LOADS:
                    words = before.groups * before.group_words
                    used += range(before.resident_word, before.resident_word + words)
                    assert job.resident_word == before.resident_word
            assert len(used) == len(set(used))
            assert max(used) < RESIDENT_WORDS
            counts += 1
    assert counts


CONFIG = configs.find_config("64-blocks-resident")
# With several streams that stay, and one that several jobs read.
SEEDS = 6, 7


@functools.cache
def forms(seed: int) -> tuple[EngineList, EngineList]:
    """Give the list of a network in blocks, and as it is without a code."""
    (raw,) = compile_stages(random_networks.engine_network(seed).model, CONFIG).engine.lists
    return code_weights(raw, CONFIG, Goal.CYCLES), raw


def cycles(found: EngineList, jobs: tuple[AnyJob, ...]) -> int:
    return predict_list(jobs, found.engine_transfers, CONFIG.engine_macs, has_blocks=True)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_list_gains_what_is_said(seed: int) -> None:
    coded, raw = forms(seed)
    found, gain = keep_weights(coded, raw, CONFIG)
    assert gain > 0
    assert cycles(coded, coded.jobs) - cycles(found, found.again) == gain
    # Loading reads the same streams, which lie where they were.
    assert found.streams[: len(coded.streams)] == coded.streams
    loads = [
        (before, job)
        for before, job in zip(coded.weighted_jobs, found.weighted_jobs, strict=True)
        if job.flags & JobFlag.LOADS
    ]
    assert len(loads) > 1
    for before, job in loads:
        rest = dataclasses.replace(
            job, flags=job.flags & ~(JobFlag.HELD | JobFlag.LOADS), resident_word=0
        )
        assert rest == before


def test_who_reads_a_stream_again_finds_its_words() -> None:
    found, _ = keep_weights(*forms(7), CONFIG)
    loaded = {job.resident_word: job for job in found.weighted_jobs if job.flags & JobFlag.LOADS}
    held = [
        job
        for job in found.weighted_jobs
        if job.flags & JobFlag.HELD and not job.flags & JobFlag.LOADS
    ]
    assert held
    for job in held:
        first = loaded[job.resident_word]
        assert (job.groups, job.group_words) == (first.groups, first.group_words)
        assert not job.flags & JobFlag.CODED


def test_the_list_keeps_weights_that_gains_most() -> None:
    pairs = [forms(seed) for seed in SEEDS]
    gains = [keep_weights(*both, CONFIG)[1] for both in pairs]
    assert gains[0] != gains[1]
    best = gains.index(max(gains))
    for order in ([0, 1], [1, 0]):
        coded, raw = zip(*(pairs[number] for number in order), strict=True)
        found = keep_weights_of_one(coded, raw, CONFIG)
        assert [bool(item.again) for item in found] == [number == best for number in order]


def test_nothing_is_kept_where_it_cannot_be() -> None:
    coded, raw = forms(6)
    without = configs.find_config("64-blocks")
    assert keep_weights_of_one([coded], [raw], without) == (coded,)
    assert keep_weights_of_one([], [], CONFIG) == ()
    # A list that follows another one finds what that has left, and nobody knows whose weights.
    parts = dataclasses.replace(coded, ends=((1, 0),))
    assert keep_weights(parts, raw, CONFIG) == (parts, 0)
    # Without a code there is nothing to save.
    assert keep_weights(raw, raw, CONFIG) == (raw, 0)
    small = dataclasses.replace(CONFIG, resident_words=1)
    assert keep_weights(coded, raw, small) == (coded, 0)


def test_what_gains_nothing_is_read_as_before() -> None:
    """Though there was room for it."""
    found, _ = keep_weights(*forms(6), CONFIG)
    streams = {job.weights_offset: job for job in found.weighted_jobs if job.flags & JobFlag.CODED}
    kept = [bool(job.flags & JobFlag.LOADS) for job in streams.values()]
    assert any(kept)
    assert not all(kept)
    assert sum(job.groups * job.group_words for job in streams.values()) <= RESIDENT_WORDS
