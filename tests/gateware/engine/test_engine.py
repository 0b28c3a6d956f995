"""The whole engine: lists of random jobs, from DRAM to DRAM."""

from pathlib import Path
from typing import Any

import pytest

from kiwicha.gateware.engine.engine import Engine
from kiwicha.isa_engine import JobKind
from kiwicha.sim import bench

TOP = "engine"
SCRATCHPAD_BYTES = 4096
MACS = (32, 64, 128)
TIMINGS: dict[str, dict[str, Any]] = {
    "ddr3": {"latency_cycles": 16, "refresh_every_cycles": 780, "refresh_cycles": 40},
    "stubborn": {"latency_cycles": 20, "jitter_cycles": 30, "stall": 0.3},
}


def run(macs: int, folder: Path, seed: int, timing: str, rounds: int) -> None:
    component = Engine(macs=macs, scratchpad_bytes=SCRATCHPAD_BYTES)
    simulator = bench.build(bench.component_verilog(component, TOP), TOP)
    values = {
        "seed": seed,
        "macs": macs,
        "scratchpad_bytes": SCRATCHPAD_BYTES,
        "rounds": rounds,
        "jobs": 4,
        "kinds": list(JobKind),
        "timing": TIMINGS[timing],
    }
    bench.run(simulator, TOP, "kiwicha.sim.tb_engine.lists", values, folder)


@pytest.mark.verilator
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("macs", MACS)
def test_executes_random_jobs(tmp_path: Path, macs: int, timing: str) -> None:
    run(macs, tmp_path, macs, timing, rounds=5)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("macs", MACS)
@pytest.mark.parametrize("seed", range(100, 105))
def test_executes_many_random_jobs(tmp_path: Path, seed: int, macs: int, timing: str) -> None:
    run(macs, tmp_path, seed, timing, rounds=30)
