"""The engine's requantizer: bit for bit `kiwicha.numerics.requantization`, on the cycle."""

import re
from pathlib import Path
from typing import Any

import pytest

from kiwicha.gateware.engine.requantize.requantizer import Requantizer
from tests.support.choices import by_day
from tests.support.gateware import bench

TOP = "requantizer"
LANES = 8
TAG_BITS = 5
BENCH = "tests.gateware.engine.requantize.bench_requantizer"


@pytest.fixture(scope="module")
def simulator() -> Path:
    return bench.build(
        bench.component_verilog(Requantizer(lanes=LANES, tag_bits=TAG_BITS), TOP), TOP
    )


@pytest.mark.verilator
@pytest.mark.parametrize("is_wide", [0, 1])
@pytest.mark.parametrize(
    ("stall", "zero_point", "minimum", "maximum"),
    by_day((0.4, 127, -3, 100), (0, 0, -128, 127), (0, -128, -128, 127), (0, 5, 5, 90)),
)
def test_equals_numerics(
    simulator: Path,
    tmp_path: Path,
    stall: float,
    zero_point: int,
    minimum: int,
    maximum: int,
    is_wide: int,
) -> None:
    values = {
        "seed": 7 + is_wide,
        "count": 2500,
        "lanes": LANES,
        "tag_bits": TAG_BITS,
        "is_wide": is_wide,
        "is_square": 0,
        "stall": stall,
        "zero_point": zero_point,
        "minimum": minimum,
        "maximum": maximum,
    }
    bench.run(simulator, TOP, f"{BENCH}.random_beats", values, tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("stall", "minimum", "maximum"), [(0.3, -128, 127), (0, 0, 127), (0.5, -128, 20)]
)
def test_shorts(tmp_path: Path, stall: float, minimum: int, maximum: int) -> None:
    component = Requantizer(lanes=LANES, tag_bits=TAG_BITS, has_int16=True)
    simulator = bench.build(bench.component_verilog(component, TOP), TOP)
    values = {
        "seed": 5,
        "count": 1500,
        "lanes": LANES,
        "tag_bits": TAG_BITS,
        "is_wide": 1,
        "is_square": 0,
        "is_short": 1,
        "stall": stall,
        "zero_point": 0,
        "minimum": minimum,
        "maximum": maximum,
    }
    bench.run(simulator, TOP, f"{BENCH}.shorts", values, tmp_path)
    bench.run(simulator, TOP, f"{BENCH}.random_beats", values | {"stall": 0.1}, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("stall", "zero_point", "minimum", "maximum"),
    by_day((0.2, -90, -128, 127), (0, 127, -3, 100), (0.5, 0, -128, 127)),
)
def test_squares(
    simulator: Path, tmp_path: Path, stall: float, zero_point: int, minimum: int, maximum: int
) -> None:
    values = {
        "seed": 11,
        "count": 50,
        "lanes": LANES,
        "tag_bits": TAG_BITS,
        "is_wide": 1,
        "is_square": 1,
        "stall": stall,
        "zero_point": zero_point,
        "minimum": minimum,
        "maximum": maximum,
    }
    bench.run(simulator, TOP, f"{BENCH}.squares", values, tmp_path)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lanes": 0}, "lanes must be an integer from 1 to 16, not 0"),
        ({"lanes": 17}, "lanes must be an integer from 1 to 16, not 17"),
        ({"lanes": 8.0}, "lanes must be an integer from 1 to 16, not 8.0"),
        ({"tag_bits": 0}, "tag_bits must be a positive integer, not 0"),
    ],
)
def test_rejects_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Requantizer(**parameters)
