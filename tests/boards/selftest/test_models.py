"""The lists of the self-test: each kind of job that an engine has."""

import pytest

from kiwicha.boards.selftest.models import examples
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import JobKind, job_kinds

NAMES = ("32", "64", "128", "256", "64-r4", "32-8k", "256-8k-m4-raw", "64-preempt")
UNITS = ("64-softmax-depthwise", "256-depthwise", "64-8k-raw-depthwise", "256-blocks-resident")
UNITS += ("32-recurrent", "128-recurrent", "64-int16", "256-int16")


@pytest.mark.parametrize("name", [*NAMES, *UNITS])
def test_every_kind_of_job_has_a_list(name: str) -> None:
    config = find_config(name)
    made = list(examples(config))
    kinds = job_kinds(
        has_softmax=config.has_softmax,
        has_depthwise=config.has_depthwise,
        has_recurrent=config.has_recurrent,
        has_elements=config.has_short_elements,
    )
    assert [example.kind for example in made] == kinds
    for example in made:
        found = {JobKind(job.kind) for job in example.list.jobs}
        assert example.kind in found
        # The depthwise unit has work only beside the array, that for steps only behind it.
        assert len(found) == 1 or found & {JobKind.DEPTHWISE_UNIT, JobKind.RECURRENT}
        assert example.list.transfers
