"""Predicted rows of array and depthwise unit: order, waits, and what a list takes."""

import functools

import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_layers, predict_program
from kiwicha.compiler.engine.cost.unit_timeline import UnitThreads
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import EngineJob
from kiwicha.program.unit_rows import inner_rows, is_unit_job
from tests.support.models import random_networks

CONFIG = find_config("64-depthwise")
SEEDS = (0, 2, 6, 9, 11)


@functools.cache
def compiled(seed: int) -> Compilation:
    return compile_stages(random_networks.depthwise_pairs(seed).model, CONFIG.name)


def threads(seed: int) -> UnitThreads:
    (found,) = compiled(seed).lists
    return UnitThreads(
        found.jobs,
        found.engine_transfers,
        CONFIG.engine_macs,
        CONFIG.requantizer_cycles,
        CONFIG.memory,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_wait_for_rows(seed: int) -> None:
    (found,) = compiled(seed).lists
    timeline = threads(seed)
    timeline.run()
    array, unit = timeline.row_ends()
    assert len(array) == max(
        r.end for j, r in zip(found.jobs, found.rows, strict=True) if not is_unit_job(j)
    )
    assert len(unit) == max(
        r.end for j, r in zip(found.jobs, found.rows, strict=True) if is_unit_job(j)
    )
    for ends in (array, unit):
        assert ends == sorted(ends)
    for job, rows in zip(found.jobs, found.rows, strict=True):
        if not isinstance(job, EngineJob) or not rows.wait > 0:
            continue
        own, others = (unit, array) if is_unit_job(job) else (array, unit)
        assert own[rows.first] > others[rows.wait - 1]
        if is_unit_job(job) and inner_rows(job) > 1:
            # Its last row is behind the last one that it reads.
            assert own[rows.end - 1] > others[rows.last_wait - 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_jobs_share_the_time_of_the_list(seed: int) -> None:
    total, cycles = threads(seed).run()
    assert sum(job.end - job.start for job in cycles) == max(job.end for job in cycles) <= total
    assert min(job.end - job.start for job in cycles) >= 0


@pytest.mark.parametrize("seed", SEEDS)
def test_no_layer_takes_less_than_nothing(seed: int) -> None:
    program = compiled(seed).program
    layers = predict_layers(program)
    assert min(layers) >= 0
    assert sum(layers) == predict_program(program)[0]
