"""The weight buffer: what is read is what was sent, and no bank is overwritten in use."""

import re
from pathlib import Path
from typing import Any

import pytest

from kiwicha.contract.engine import has_packed, outputs_of
from kiwicha.gateware.engine.weights.weight_buffer import WeightBuffer
from tests.support.choices import at_night, by_day
from tests.support.gateware import bench

TOP = "weight_buffer"
BENCH = "tests.gateware.engine.weights.bench_weight_buffer.groups"
TABLES = "tests.gateware.engine.weights.bench_weight_tables.tables"
DEPTHS = {32: 64, 64: 512, 128: 128, 256: 128}


@pytest.fixture(scope="module")
def simulators() -> bench.Simulators:
    def design(size: tuple[int, int, bool, bool]) -> str:
        macs, lanes, has_pairs, is_resident = size
        buffer = WeightBuffer(
            macs=macs,
            lanes=None if lanes == outputs_of(macs) else lanes,
            depth=DEPTHS[macs],
            has_pairs=has_pairs,
            is_resident=is_resident,
        )
        return bench.component_verilog(buffer, TOP)

    return bench.Simulators(design, TOP)


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("macs", "lanes", "pairs", "stall", "is_unsigned", "zero_point", "is_skewed"),
    [
        (64, 8, "", 0, 1, 43, 1),
        at_night((64, 4, "", 0.4, 1, 255, 0)),
        (64, 8, "", 0.1, 0, -44, 1),
        at_night((64, 8, "", 0.1, 0, -128, 1)),
        at_night((32, 4, "", 0, 1, 131, 1)),
        at_night((32, 4, "", 0.3, 0, 127, 0)),
        at_night((128, 8, "", 0.1, 0, 0, 1)),
        at_night((128, 4, "", 0.2, 0, 0, 1)),
        at_night((256, 16, "", 0.1, 0, 0, 1)),
        at_night((64, 8, "kept", 0.1, 1, 100, 1)),
        at_night((64, 8, "pairs", 0, 0, 0, 0)),
        at_night((128, 8, "pairs", 0.1, 0, 0, 1)),
        at_night((256, 16, "kept", 0.1, 0, 0, 1)),
    ],
)
def test_reads_what_was_sent(
    simulators: dict[tuple[int, int, bool, bool], Path],
    tmp_path: Path,
    macs: int,
    lanes: int,
    pairs: str,
    stall: float,
    is_unsigned: int,
    zero_point: int,
    is_skewed: int,
) -> None:
    """Without pairs, with them, or with words that are kept as well."""
    has_pairs, is_resident = bool(pairs), pairs == "kept"
    values = {
        "seed": macs + zero_point,
        "count": 10,
        "macs": macs,
        "lanes": lanes,
        "depth": DEPTHS[macs],
        "has_pairs": has_pairs,
        "is_resident": is_resident,
        "stall": stall,
        "is_unsigned": is_unsigned,
        "zero_point": zero_point,
        "is_skewed": is_skewed,
    }
    for is_packed in (0, 1) if has_packed(macs) else (0,):
        given = {**values, "is_packed": is_packed}
        simulator = simulators[macs, lanes, has_pairs, is_resident]
        bench.run(simulator, TOP, BENCH, given, tmp_path / str(is_packed))


@pytest.mark.verilator
@pytest.mark.parametrize(("zero_point", "is_unsigned", "stall"), by_day((0, 0, 0), (99, 1, 0.4)))
def test_looks_up_tables_and_passes_them_on(
    simulators: dict[tuple[int, int, bool, bool], Path],
    tmp_path: Path,
    zero_point: int,
    is_unsigned: int,
    stall: float,
) -> None:
    values: dict[str, float] = {"seed": zero_point, "count": 12, "zero_point": zero_point}
    values |= {"is_unsigned": is_unsigned, "stall": stall}
    bench.run(simulators[64, 8, False, False], TOP, TABLES, values, tmp_path)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"macs": 16}, "macs must be one of (32, 64, 128, 256), not 16"),
        ({"macs": 64, "lanes": 2}, "lanes must be 4 or 8, not 2"),
        ({"macs": 64, "lanes": 4, "has_pairs": True}, "lanes must be 8 for pairs, not 4"),
        ({"macs": 64, "is_resident": True}, "words must come in pairs where they are kept"),
        (
            {"macs": 64, "has_pairs": True, "has_depthwise": True},
            "a depthwise unit must be without pairs",
        ),
        ({"macs": 64, "depth": 8}, "depth must be a power of two from 16 to 1024, not 8"),
        ({"macs": 64, "depth": 96}, "depth must be a power of two from 16 to 1024, not 96"),
        ({"macs": 64, "depth": 64.0}, "depth must be a power of two from 16 to 1024, not 64.0"),
    ],
)
def test_rejects_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        WeightBuffer(**parameters)
