"""Which weights stay on chip, and what inferences give while they do."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.configs import RESIDENT_WORDS
from kiwicha.contract.engine import EngineCall, EngineJob, JobFlag
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
