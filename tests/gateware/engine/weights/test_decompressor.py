"""Both decoders give what was coded; whatever else they get ends in an error."""

from pathlib import Path
from typing import Any

import pytest

from kiwicha.gateware.engine.weights.block_decoder import BlockDecoder
from kiwicha.gateware.engine.weights.decompressor import Decompressor
from kiwicha.gateware.engine.weights.raw_streams import RawStreams
from tests.support.choices import at_night, by_day
from tests.support.gateware import bench

TOP = "decompressor"
BENCHES = "tests.gateware.engine.weights.bench_decompressor."
KINDS = ["bit", "random", "table", "zeros", "short", "long", "raw short", "raw long"]


@pytest.fixture(scope="module")
def simulators() -> bench.Simulators:
    def design(in_blocks: bool) -> str:
        return bench.component_verilog(BlockDecoder() if in_blocks else Decompressor(), TOP)

    return bench.Simulators(design, TOP)


@pytest.mark.verilator
@pytest.mark.parametrize("in_blocks", by_day(True, False))
@pytest.mark.parametrize(("seed", "stall"), by_day((2, 0.2), (1, 0), (3, 0.6)))
def test_decodes(
    simulators: dict[bool, Path], tmp_path: Path, seed: int, stall: float, in_blocks: bool
) -> None:
    values = {
        "seed": seed,
        "stall": stall,
        "count": 16,
        "coded_share": 0.7,
        "in_blocks": in_blocks,
    }
    bench.run(simulators[in_blocks], TOP, f"{BENCHES}good_streams", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize("in_blocks", by_day(True, False))
@pytest.mark.parametrize(
    ("is_coded", "spread"),
    [(True, 2.0), (False, 0.0), *map(at_night, [(True, 0.0), (True, 40.0), (True, 1000.0)])],
)
def test_throughput(
    simulators: dict[bool, Path], tmp_path: Path, is_coded: bool, spread: float, in_blocks: bool
) -> None:
    values = {"is_coded": is_coded, "spread": spread, "in_blocks": in_blocks}
    bench.run(simulators[in_blocks], TOP, f"{BENCHES}throughput", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize("in_blocks", by_day(True, False))
@pytest.mark.parametrize(("seed", "stall"), by_day((6, 0.3), (5, 0)))
def test_finds_errors(
    simulators: dict[bool, Path], tmp_path: Path, seed: int, stall: float, in_blocks: bool
) -> None:
    values = {
        "seed": seed,
        "stall": stall,
        "kinds": KINDS,
        "count": 12 * len(KINDS),
        "in_blocks": in_blocks,
    }
    bench.run(simulators[in_blocks], TOP, f"{BENCHES}bad_streams", values, tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
def test_passes_raw_streams_without_a_codec(tmp_path: Path) -> None:
    simulator = bench.build(bench.component_verilog(RawStreams(), TOP), TOP)
    shared: dict[str, Any] = {"in_blocks": False, "stall": 0.2}
    values = shared | {"seed": 8, "count": 16, "coded_share": 0.0}
    bench.run(simulator, TOP, f"{BENCHES}good_streams", values, tmp_path / "streams")
    values = shared | {"seed": 9, "kinds": ["raw short", "raw long"], "count": 30}
    bench.run(simulator, TOP, f"{BENCHES}bad_streams", values, tmp_path / "bad")
    values = {"is_coded": False, "spread": 0.0, "in_blocks": False}
    bench.run(simulator, TOP, f"{BENCHES}throughput", values, tmp_path / "throughput")
