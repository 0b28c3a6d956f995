"""Tests of the lists that are replayed on netlists."""

import pytest

from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import JobFlag, JobKind
from tools.verification.replay import random_lists


def kinds(config: str) -> list[int]:
    lists = random_lists(find_config(config), 24, seed=3)
    return [job.kind for case in lists for job in case.made.jobs]


@pytest.mark.parametrize("config", ["64", "64-softmax", "64-blocks"])
def test_engines_get_jobs_of_the_kinds_that_they_have(config: str) -> None:
    missing = {JobKind.DEPTHWISE_UNIT, JobKind.RECURRENT, JobKind.SHORT_ELEMENTS}
    missing |= set() if config == "64-softmax" else {JobKind.SOFTMAX}
    assert set(kinds(config)) == set(JobKind) - missing


def test_half_of_the_jobs_of_an_engine_with_a_depthwise_unit_are_for_that() -> None:
    found = kinds("64-depthwise")
    assert set(found) >= {JobKind.DEPTHWISE_UNIT, JobKind.CONV, JobKind.MOVE}
    assert 0.3 < found.count(JobKind.DEPTHWISE_UNIT) / len(found) < 0.7


def test_engines_for_blocks_get_weights_in_blocks() -> None:
    plain, blocks = (random_lists(find_config(name), 8, seed=3) for name in ("64", "64-blocks"))
    coded = [
        any(job.flags & JobFlag.CODED for case in lists for job in case.made.jobs)
        for lists in (plain, blocks)
    ]
    assert coded == [True, True]
    assert [case.given.image for case in plain] != [case.given.image for case in blocks]
