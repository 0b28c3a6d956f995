"""The requantizer pipeline, in cocotb on Verilator."""

from pathlib import Path

import pytest

from kiwicha.gateware.requantize import Requantizer
from kiwicha.sim import bench

pytestmark = pytest.mark.verilator
BENCHES = "kiwicha.sim.tb_requantize"


@pytest.fixture(scope="module")
def simulator() -> Path:
    return bench.build(bench.component_verilog(Requantizer(), "requantizer"), "requantizer")


@pytest.mark.parametrize(
    ("kind", "output"),
    [
        ("RESCALE", (9, -5, 5)),
        ("VALUE", (0, -128, 127)),
        ("LANE", (-128, -128, 127)),
        ("LANE", (127, -128, 127)),
        ("VALUE", (3, -17, 40)),
    ],
)
def test_every_shift_and_extreme_equals_numerics(
    simulator: Path, tmp_path: Path, kind: str, output: tuple[int, int, int]
) -> None:
    values = {"seed": 0, "kind": kind, "output": output, "input_stall": 0, "output_stall": 0}
    bench.run(simulator, "requantizer", f"{BENCHES}.every_extreme", values, tmp_path)


@pytest.mark.parametrize("input_stall", [0, 0.6])
@pytest.mark.parametrize("output_stall", [0, 0.6])
@pytest.mark.parametrize("seed", range(2))
def test_random_values_equal_numerics(
    simulator: Path, tmp_path: Path, seed: int, output_stall: float, input_stall: float
) -> None:
    values = {
        "seed": seed,
        "count": 2000,
        "input_stall": input_stall,
        "output_stall": output_stall,
    }
    bench.run(simulator, "requantizer", f"{BENCHES}.random_values", values, tmp_path)
