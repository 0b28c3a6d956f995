"""The engine without its arithmetic: lists do what they say, whatever DRAM does."""

from pathlib import Path
from typing import Any

import pytest

from kiwicha.isa_engine import EngineError
from kiwicha.sim import bench
from kiwicha.sim.stand_in_core import StandInEngine

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


@pytest.fixture(scope="module")
def simulators() -> dict[int, Path]:
    return {
        macs: bench.build(
            bench.component_verilog(
                StandInEngine(macs=macs, scratchpad_bytes=SCRATCHPAD_BYTES), TOP
            ),
            TOP,
        )
        for macs in (64,)
    }


def run(simulator: Path, folder: Path, name: str, **values: Any) -> None:
    values = {"macs": 64, "scratchpad_bytes": SCRATCHPAD_BYTES, "errors": [0], **values}
    bench.run(simulator, TOP, f"kiwicha.sim.tb_control.{name}", values, folder)


@pytest.mark.verilator
@pytest.mark.parametrize("stall", [0.0, 0.3])
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("seed", range(1))
def test_executes_lists(
    simulators: dict[int, Path], tmp_path: Path, seed: int, timing: str, stall: float
) -> None:
    run(simulators[64], tmp_path, "lists", seed=seed, timing=TIMINGS[timing], stall=stall, rounds=8)


@pytest.mark.verilator
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.name)
def test_works_after_an_error(
    simulators: dict[int, Path], tmp_path: Path, timing: str, error: EngineError
) -> None:
    run(
        simulators[64],
        tmp_path,
        "lists",
        seed=error,
        timing=TIMINGS[timing],
        stall=0.1,
        rounds=12,
        errors=[error, EngineError.NONE],
    )


@pytest.mark.verilator
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("seed", range(1))
def test_watchdog_stops_lists(
    simulators: dict[int, Path], tmp_path: Path, seed: int, timing: str
) -> None:
    run(
        simulators[64],
        tmp_path,
        "watchdog",
        seed=seed,
        timing=TIMINGS[timing],
        stall=0.1,
        rounds=16,
    )
