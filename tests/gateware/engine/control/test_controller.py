"""The engine without its arithmetic: lists do what they say, whatever DRAM does."""

import functools
from pathlib import Path
from typing import Any

import pytest

from kiwicha.contract.engine import EngineError
from tests.gateware.engine.control.stand_in_datapath import StandInEngine
from tests.support.choices import by_day
from tests.support.gateware import bench

BENCHES = "tests.gateware.engine.control.bench_controller"
TOP = "stand_in_engine"
SCRATCHPAD_BYTES = 16384
TIMINGS: dict[str, dict[str, Any]] = {
    "fast": {"latency_cycles": 1},
    "ddr3": {"latency_cycles": 16, "refresh_every_cycles": 780, "refresh_cycles": 40},
    "stubborn": {
        "latency_cycles": 20,
        "jitter_cycles": 40,
        "stall": 0.4,
        "refresh_every_cycles": 500,
        "refresh_cycles": 400,
    },
}
ERRORS = [error for error in EngineError if error not in {EngineError.NONE, EngineError.WATCHDOG}]


@functools.cache
def simulator_of(macs: int) -> Path:
    component = StandInEngine(macs=macs, scratchpad_bytes=SCRATCHPAD_BYTES)
    return bench.build(bench.component_verilog(component, TOP), TOP)


def run(macs: int, folder: Path, name: str, **values: Any) -> None:
    values = {"macs": macs, "scratchpad_bytes": SCRATCHPAD_BYTES, "errors": [0], **values}
    bench.run(
        simulator_of(macs),
        TOP,
        f"{BENCHES}.{name}",
        values,
        folder,
    )


@pytest.mark.verilator
@pytest.mark.parametrize("stall", by_day(0.3, 0.0))
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("seed", range(1))
def test_executes_lists(tmp_path: Path, seed: int, timing: str, stall: float) -> None:
    run(64, tmp_path, "lists", seed=seed, timing=TIMINGS[timing], stall=stall, rounds=8)


@pytest.mark.verilator
@pytest.mark.parametrize("timing", by_day("stubborn", "ddr3", "fast"))
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.name)
def test_works_after_an_error(tmp_path: Path, timing: str, error: EngineError) -> None:
    run(
        64,
        tmp_path,
        "lists",
        seed=error,
        timing=TIMINGS[timing],
        stall=0.1,
        rounds=12,
        errors=[error, EngineError.NONE],
    )


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("seed", range(2))
def test_a_list_ends_when_its_last_word_has_come(tmp_path: Path, seed: int) -> None:
    """A list that ends when its jobs are complete misses the error in one of 60 lists of seed 0."""
    timing = {"latency_cycles": 20, "jitter_cycles": 40}
    run(64, tmp_path, "overfed_lists", seed=seed, timing=timing, stall=0.1, rounds=60)


@pytest.mark.verilator
@pytest.mark.parametrize("timing", by_day("stubborn", "ddr3", "fast"))
@pytest.mark.parametrize("seed", range(1))
def test_watchdog_stops_lists(tmp_path: Path, seed: int, timing: str) -> None:
    run(
        64,
        tmp_path,
        "watchdog",
        seed=seed,
        timing=TIMINGS[timing],
        stall=0.1,
        rounds=16,
    )


@pytest.mark.verilator
@pytest.mark.parametrize("lines", [2, 500])
def test_transfers_take_a_cycle_per_line(tmp_path: Path, lines: int) -> None:
    run(64, tmp_path, "costs", seed=0, timing={"latency_cycles": 16}, stall=0.0, lines=lines)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("name", ["lists", "watchdog"])
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("macs", [32, 64, 128, 256])
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_lists(tmp_path: Path, seed: int, macs: int, timing: str, name: str) -> None:
    run(
        macs,
        tmp_path,
        name,
        seed=seed,
        timing=TIMINGS[timing],
        stall=seed % 4 / 10,
        rounds=40,
        errors=[EngineError.NONE, *ERRORS],
    )
