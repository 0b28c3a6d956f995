"""The bound on cycles: against published results, and against lists with a slow memory."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost import bounds
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import ENGINE_WATCHDOG_CYCLES
from kiwicha.contract.memories import MEMORIES, Memory
from tests.support.choices import by_day
from tests.support.models import random_networks
from tests.support.requirements import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results" / "bench"
FILES = {
    "person_detect": "person_detect",
    "kws": "mlperf_kws_ref_model",
    "ad": "mlperf_ad01_int8",
    "vww": "mlperf_vww_96_int8",
    "resnet8": "mlperf_pretrainedResnet_quant",
    "mnv2": "cfu_mobilenetv2_160_035",
}


@pytest.mark.parametrize(
    ("results", "model"),
    by_day(
        ("64-128", "person_detect"),
        ("64-128", "kws"),
        ("64-128", "ad"),
        ("64-128", "vww"),
        ("64-128", "resnet8"),
        ("64-128", "mnv2"),
        ("simd", "person_detect"),
        ("simd", "resnet8"),
        ("simd", "ad"),
        ("baseline", "person_detect"),
    ),
)
def test_published_results_are_within_it(
    results: str, model: str, zoo_model: Callable[[str], Path]
) -> None:
    path = zoo_model(FILES[model])
    runs = json.loads((RESULTS / f"{results}.json").read_text(encoding="utf-8"))
    found = [run for run in runs if run["model"] == model]
    assert found
    for run in found:
        program = compile_model(path, find_config(run["config"]))
        most = max(run["cycles"], run["cycles_first"])
        assert 0.2 <= most / bounds.worst_cycles(program) <= 0.8


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("memory", MEMORIES.values(), ids=lambda memory: memory.name)
def test_lists_with_half_of_the_memory_are_within_it(memory: Memory, seed: int) -> None:
    """The CPU may take every second word."""
    model = random_networks.engine_network(seed).model
    program = compile_model(model, find_config("64").with_memory(memory))
    slow = dataclasses.replace(
        memory,
        bytes_per_cycle=memory.bytes_per_cycle / 2,
        latency_cycles=2 * memory.latency_cycles,
    )
    slowly, _ = predict_program(dataclasses.replace(program, memory=slow))
    bound = bounds.worst_cycles(program)
    assert predict_program(program)[0] < slowly <= bound
    # It is not just any large number.
    assert bound <= 5 * slowly + 20_000


def test_the_watchdog_bounds_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_model(random_networks.engine_network(1).model, "64")
    monkeypatch.setattr(bounds, "ENGINE_WATCHDOG_CYCLES", 100)
    assert bounds.worst_cycles(program) < 100_000 < ENGINE_WATCHDOG_CYCLES
