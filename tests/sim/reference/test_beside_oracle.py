"""Depthwise layers on the unit beside the array, against TFLM."""

import pytest

from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import JobKind, has_packed
from tests.support.choices import by_day
from tests.support.models import random_networks
from tests.support.oracle.on_engine import job_kinds, on_engine


@pytest.mark.parametrize(
    "config", by_day("64-depthwise", "128-depthwise", "256-depthwise", "64-16k-depthwise")
)
def test_depthwise_pairs(config: str) -> None:
    on_unit = 0
    for seed in range(10):
        channels = (16, 24, 40) if has_packed(find_config(config).engine_macs) else None
        case = random_networks.depthwise_pairs(seed, channels=channels)
        stages = on_engine(case, config, is_all=False)
        on_unit += job_kinds(stages).count(JobKind.DEPTHWISE_UNIT)
    assert on_unit > 5


def test_average_pools_ride_on_the_unit() -> None:
    """They are depthwise convolutions of ones."""
    pools = 0
    for seed in (1, 11):
        stages = on_engine(random_networks.depthwise_pairs(seed), "64-depthwise", is_all=False)
        for found in stages.lists:
            for pair in found.plan.beside:
                event = found.plan.events[pair.unit]
                pools += bool((event.operation.weights == 1).all())
    assert pools > 1
