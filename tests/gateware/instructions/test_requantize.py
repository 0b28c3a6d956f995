"""The requantizer pipeline, in cocotb on Verilator."""

from pathlib import Path

import pytest

from kiwicha.gateware.instructions.requantize import Requantizer
from tests.support.choices import at_night, by_day
from tests.support.gateware import bench

pytestmark = pytest.mark.verilator
BENCHES = "tests.gateware.instructions.bench_requantize"


@pytest.fixture(scope="module")
def simulators() -> bench.Simulators:
    return bench.Simulators(
        lambda multipliers: bench.component_verilog(
            Requantizer(multipliers=multipliers), "requantizer"
        ),
        "requantizer",
    )


@pytest.mark.parametrize("multipliers", by_day(4, 1))
@pytest.mark.parametrize(
    ("kind", "output"),
    [
        ("RESCALE", (9, -5, 5)),
        ("VALUE", (0, -128, 127)),
        ("LANE", (-128, -128, 127)),
        at_night(("LANE", (127, -128, 127))),
        at_night(("VALUE", (3, -17, 40))),
    ],
)
def test_every_shift_and_extreme_equals_numerics(
    simulators: dict[int, Path],
    tmp_path: Path,
    kind: str,
    output: tuple[int, int, int],
    multipliers: int,
) -> None:
    values = {
        "seed": 0,
        "kind": kind,
        "output": output,
        "multipliers": multipliers,
        "input_stall": 0,
        "output_stall": 0,
    }
    simulator = simulators[multipliers]
    bench.run(simulator, "requantizer", f"{BENCHES}.every_extreme", values, tmp_path)


@pytest.mark.parametrize(
    ("input_stall", "output_stall"), by_day((0.6, 0.6), (0, 0), (0, 0.6), (0.6, 0))
)
@pytest.mark.parametrize(("seed", "multipliers"), [(0, 4), at_night((1, 4)), at_night((2, 1))])
def test_random_values_equal_numerics(
    simulators: dict[int, Path],
    tmp_path: Path,
    seed: int,
    multipliers: int,
    output_stall: float,
    input_stall: float,
) -> None:
    values = {
        "seed": seed,
        "multipliers": multipliers,
        "count": 2000 if multipliers == 4 else 500,
        "input_stall": input_stall,
        "output_stall": output_stall,
    }
    simulator = simulators[multipliers]
    bench.run(simulator, "requantizer", f"{BENCHES}.random_values", values, tmp_path)
