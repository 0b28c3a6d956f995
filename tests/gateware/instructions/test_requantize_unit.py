"""Requantization of pixels and single values, in cocotb on Verilator."""

from pathlib import Path

import pytest

from kiwicha.gateware.instructions.requantize_unit import RequantizeUnit
from tests.support.choices import by_day
from tests.support.gateware import bench

pytestmark = pytest.mark.verilator
BENCHES = "tests.gateware.instructions.bench_requantize"
TOP = "requantize_unit"


@pytest.fixture(scope="module")
def simulator() -> Path:
    return bench.build(bench.component_verilog(RequantizeUnit(), TOP), TOP)


@pytest.mark.parametrize("input_stall", [0, 0.5])
@pytest.mark.parametrize("output_stall", [0, 0.9])
@pytest.mark.parametrize("seed", by_day(0, 1))
def test_pixels_and_values_with_declared_latency(
    simulator: Path, tmp_path: Path, seed: int, output_stall: float, input_stall: float
) -> None:
    values = {
        "seed": seed,
        "count": 500,
        "input_stall": input_stall,
        "output_stall": output_stall,
    }
    bench.run(
        simulator,
        TOP,
        f"{BENCHES}.pixels_and_values",
        values,
        tmp_path,
    )
