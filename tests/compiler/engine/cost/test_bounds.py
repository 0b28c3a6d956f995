"""The bound on cycles: against published results, and against lists with a slow memory."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost import bounds
from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.memories import MEMORIES, SDR_HALF_RATE, Memory
from kiwicha.program.engine_list import read_list
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


NARROW = dataclasses.replace(SDR_HALF_RATE, name="narrow", bytes_per_cycle=0.5)
"""A memory that everything waits for."""


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
@pytest.mark.parametrize("name", ["64", "64-blocks"])
@pytest.mark.parametrize("memory", [*MEMORIES.values(), NARROW], ids=lambda memory: memory.name)
def test_lists_with_half_of_the_memory_are_within_it(memory: Memory, name: str, seed: int) -> None:
    """The CPU may take every second word."""
    config = find_config(name).with_memory(memory)
    program = compile_model(random_networks.engine_network(seed).model, config)
    slow = dataclasses.replace(
        memory,
        bytes_per_cycle=memory.bytes_per_cycle / 2,
        latency_cycles=2 * memory.latency_cycles,
    )
    calls = [step.params for step in program.steps if isinstance(step.params, EngineCall)]
    assert calls
    for call in calls:
        found = read_list(call, program.constants[call.image.offset :][: call.image.bytes])
        engine = call.macs, config.requantizer_cycles, config.has_blocks
        cycles, _ = predict_list(
            found.jobs, found.transfers, *engine[:2], slow, has_blocks=config.has_blocks
        )
        bound = bounds.worst_list_cycles(found.jobs, found.transfers, engine, memory)
        # It is not just any large number.
        assert cycles <= bound <= 4 * cycles


def test_the_watchdog_bounds_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_model(random_networks.engine_network(1).model, "64")
    whole = bounds.worst_cycles(program)
    monkeypatch.setattr(bounds, "ENGINE_WATCHDOG_CYCLES", 100)
    assert bounds.worst_cycles(program) < whole
