"""The multiply-accumulate unit, in cocotb on Verilator."""

import re
from pathlib import Path
from typing import Any

import pytest

from kiwicha.gateware.instructions.mac import Mac, validated_multipliers
from tests.support.choices import at_night, by_day
from tests.support.gateware import bench

BENCHES = "tests.gateware.instructions.bench_mac"


@pytest.fixture(scope="module")
def simulators() -> dict[int, Path]:
    return {
        multipliers: bench.build(
            bench.component_verilog(Mac(multipliers=multipliers), "mac"), "mac"
        )
        for multipliers in (1, 4)
    }


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("multipliers", "stall", "output_stall"),
    [(4, 0, 0), at_night((1, 0.5, 0.6)), at_night((4, 0.5, 0)), at_night((1, 0, 0))],
)
@pytest.mark.parametrize(("seed", "input_offset"), by_day((0, -127), (1, 128), (2, 0), (3, 37)))
def test_equals_the_model_with_declared_latency(
    simulators: dict[int, Path],
    tmp_path: Path,
    seed: int,
    input_offset: int,
    multipliers: int,
    stall: float,
    output_stall: float,
) -> None:
    values = {
        "seed": seed,
        "input_offset": input_offset,
        "multipliers": multipliers,
        "stall": stall,
        "output_stall": output_stall,
        "count": 2000,
    }
    simulator = simulators[multipliers]
    bench.run(simulator, "mac", f"{BENCHES}.random_commands", values, tmp_path)


@pytest.mark.parametrize("multipliers", [0, 2, 4.5, "4"])
def test_rejects_bad_number_of_multipliers(multipliers: Any) -> None:
    message = f"multipliers must be 1 or 4, not {multipliers!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        validated_multipliers(multipliers)
