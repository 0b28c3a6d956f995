"""The decompressor gives what was coded; whatever else it gets ends in an error."""

from pathlib import Path
from typing import Any

import pytest

from kiwicha.gateware.engine.weights.decompressor import Decompressor
from kiwicha.gateware.engine.weights.raw_streams import RawStreams
from tests.support.gateware import bench

TOP = "decompressor"
BENCHES = "tests.gateware.engine.weights.bench_decompressor."
KINDS = ["bit", "random", "table", "zeros", "short", "long", "raw short", "raw long"]


@pytest.fixture(scope="module")
def simulator() -> Path:
    return bench.build(bench.component_verilog(Decompressor(), TOP), TOP)


@pytest.mark.verilator
@pytest.mark.parametrize(("seed", "stall"), [(1, 0), (2, 0.2), (3, 0.6)])
def test_decodes(simulator: Path, tmp_path: Path, seed: int, stall: float) -> None:
    values = {"seed": seed, "stall": stall, "count": 16, "coded_share": 0.7}
    bench.run(simulator, TOP, f"{BENCHES}streams", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("is_coded", "spread"), [(True, 0.0), (True, 2.0), (True, 40.0), (True, 1000.0), (False, 0.0)]
)
def test_throughput(simulator: Path, tmp_path: Path, is_coded: bool, spread: float) -> None:
    values = {"is_coded": is_coded, "spread": spread}
    bench.run(simulator, TOP, f"{BENCHES}throughput", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize(("seed", "stall"), [(5, 0), (6, 0.3)])
def test_finds_errors(simulator: Path, tmp_path: Path, seed: int, stall: float) -> None:
    values = {"seed": seed, "stall": stall, "kinds": KINDS, "count": 12 * len(KINDS)}
    bench.run(simulator, TOP, f"{BENCHES}bad_streams", values, tmp_path)


@pytest.mark.verilator
def test_passes_raw_streams_without_a_codec(tmp_path: Path) -> None:
    simulator = bench.build(bench.component_verilog(RawStreams(), TOP), TOP)
    values: dict[str, Any] = {"seed": 8, "stall": 0.2, "count": 16, "coded_share": 0.0}
    bench.run(simulator, TOP, f"{BENCHES}streams", values, tmp_path / "streams")
    values = {"seed": 9, "stall": 0.2, "kinds": ["raw short", "raw long"], "count": 30}
    bench.run(simulator, TOP, f"{BENCHES}bad_streams", values, tmp_path / "bad")
    values = {"is_coded": False, "spread": 0.0}
    bench.run(simulator, TOP, f"{BENCHES}throughput", values, tmp_path / "throughput")
