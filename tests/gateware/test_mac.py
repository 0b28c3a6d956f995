"""The multiply-accumulate unit, in cocotb on Verilator."""

from pathlib import Path

import pytest

from kiwicha.gateware.mac import Mac
from kiwicha.sim import bench

pytestmark = pytest.mark.verilator


@pytest.fixture(scope="module")
def simulator() -> Path:
    return bench.build(bench.component_verilog(Mac(), "mac"), "mac")


@pytest.mark.parametrize("stall", [0, 0.5])
@pytest.mark.parametrize(("seed", "input_offset"), [(0, -127), (1, 128), (2, 0), (3, 37)])
def test_equals_the_model_with_declared_latency(
    simulator: Path, tmp_path: Path, seed: int, input_offset: int, stall: float
) -> None:
    values = {"seed": seed, "input_offset": input_offset, "stall": stall, "count": 2000}
    bench.run(simulator, "mac", "kiwicha.sim.tb_mac.random_commands", values, tmp_path)
