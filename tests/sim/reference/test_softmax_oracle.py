"""Networks with SOFTMAX inside against TensorFlow Lite Micro, on engines with SOFTMAX jobs."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract import configs
from kiwicha.contract.engine import JobKind
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models.random_softmax import softmax_network
from tests.support.oracle import oracle

BLOCK = 6
"""Networks that one test asks the oracle about."""
TINY = dataclasses.replace(
    configs.find_config("64-softmax"), name="64-tiny", scratchpad_bytes=3 * 512
)
"""Where nothing but stripes fits."""


@pytest.mark.parametrize("config", ["64-softmax", "128", "64-tiny"])
@pytest.mark.parametrize("first", by_day(0, BLOCK, 2 * BLOCK, 3 * BLOCK))
def test_random_networks(first: int, config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(configs.ALL_CONFIGS, TINY.name, TINY)
    cases = [softmax_network(seed) for seed in range(first, first + BLOCK)]
    jobs = 0
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        stages = compile_stages(case.model, config)
        jobs += sum(job.kind == JobKind.SOFTMAX for item in stages.lists for job in item.jobs)
        for output, expected in zip(
            reference.run(stages.program, case.inputs), answer.outputs, strict=True
        ):
            np.testing.assert_array_equal(output, expected)
    assert jobs >= BLOCK
