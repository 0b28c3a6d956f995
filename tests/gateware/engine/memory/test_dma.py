"""Readers, writer and port: every word once, in order, at the rate of DRAM."""

import re
from pathlib import Path
from typing import Any

import pytest

from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from tests.gateware.engine.memory.dma_harness import DmaHarness
from tests.support.choices import by_day
from tests.support.gateware import bench

BENCHES = "tests.gateware.engine.memory.bench_dma"
TOP = "dma_harness"
DDR3 = {"latency_cycles": 16}
TIMINGS: dict[str, dict[str, Any]] = {
    "fast": {"latency_cycles": 1},
    "ddr3": {**DDR3, "refresh_every_cycles": 780, "refresh_cycles": 40},
    "stubborn": {
        "latency_cycles": 20,
        "jitter_cycles": 40,
        "stall": 0.5,
        "refresh_every_cycles": 300,
        "refresh_cycles": 300,
    },
}


@pytest.fixture(scope="module")
def simulators() -> bench.Simulators:
    return bench.Simulators(
        lambda depth: bench.component_verilog(DmaHarness(readers=2, depth=depth), TOP), TOP
    )


@pytest.mark.verilator
@pytest.mark.parametrize("depth", by_day(32, 8))
@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize("timing", TIMINGS)
def test_moves_ranges(
    simulators: dict[int, Path], tmp_path: Path, timing: str, stall: float, depth: int
) -> None:
    values = {
        "seed": depth,
        "stall": stall,
        "count": 10,
        "active_readers": 2,
        "writes": True,
        "timing": TIMINGS[timing],
        "limit_cycles": 60_000,
    }
    bench.run(simulators[depth], TOP, f"{BENCHES}.ranges", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("active_readers", "writes", "overhead"),
    [(1, False, 30), (2, False, 75), (0, True, 50), (2, True, 150)],
)
def test_a_word_per_cycle(
    simulators: dict[int, Path], tmp_path: Path, active_readers: int, writes: bool, overhead: int
) -> None:
    words = 1000
    values = {
        "seed": 0,
        "stall": 0.0,
        "count": 1,
        "words": words,
        "active_readers": active_readers,
        "writes": writes,
        "timing": DDR3,
        "limit_cycles": words * (active_readers + writes) + overhead,
    }
    bench.run(simulators[32], TOP, f"{BENCHES}.ranges", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize("timing", TIMINGS)
def test_halts(simulators: dict[int, Path], tmp_path: Path, timing: str) -> None:
    values = {
        "seed": 1,
        "stall": 0.2,
        "count": 40,
        "active_readers": 2,
        "writes": True,
        "timing": TIMINGS[timing],
    }
    bench.run(simulators[32], TOP, f"{BENCHES}.stops", values, tmp_path)


@pytest.mark.parametrize("component", [DmaReader, DmaWriter])
@pytest.mark.parametrize("depth", [4, 12, 1024, 32.0])
def test_rejects_bad_depth(component: Any, depth: Any) -> None:
    message = f"depth must be a power of two from 8 to 512, not {depth!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        component(depth=depth)


@pytest.mark.parametrize("readers", [0, 8, "2"])
def test_rejects_bad_number_of_readers(readers: Any) -> None:
    message = f"readers must be an integer from 1 to 7, not {readers!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MemoryPort(readers=readers)
