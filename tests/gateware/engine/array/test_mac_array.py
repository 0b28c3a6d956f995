"""The multiplier array against dot products and direct depthwise convolution, on the cycle."""

import re
from pathlib import Path
from typing import Any

import pytest

from kiwicha.contract.engine import DEEP_MACS, PACKED_MACS, has_packed, outputs_of
from kiwicha.gateware.engine.array.interfaces import ARRAY_SIZES
from kiwicha.gateware.engine.array.mac_array import MacArray
from kiwicha.gateware.engine.array.mac_cell import Vendor
from tests.support.gateware import bench, vendor_cells

TOP = "mac_array"
BENCHES = "tests.gateware.engine.array.bench_mac_array"
TAG_BITS = 3


Size = tuple[int, int]


_BY_DAY = {(128, 4)}


def by_size(sizes: list[Size]) -> list[Any]:
    """Take by day that with sums of two beats, which has every form of a cell."""
    return [
        pytest.param(size, marks=[] if size in _BY_DAY else pytest.mark.nightly) for size in sizes
    ]


SIZES = [*((macs, outputs_of(macs)) for macs in ARRAY_SIZES), (128, 4)]
"""Products per cycle, and sums of a beat."""
PACKED_SIZES = by_size([size for size in SIZES if has_packed(size[0])])
BY_DAY = by_size(SIZES)


@pytest.fixture(scope="module")
def simulators() -> bench.Simulators:
    def design(size: Size) -> str:
        array = MacArray(macs=size[0], lanes=size[1], tag_bits=TAG_BITS)
        return bench.component_verilog(array, TOP)

    return bench.Simulators(design, TOP)


def values(macs: int, lanes: int, seed: int, stall: float, is_wide: int) -> dict[str, Any]:
    return {"macs": macs, "lanes": lanes, "seed": seed, "stall": stall, "is_wide": is_wide}


@pytest.mark.verilator
@pytest.mark.parametrize("size", BY_DAY)
@pytest.mark.parametrize(("stall", "is_wide"), [(0, 0), (0.3, 0), (0.1, 1)])
def test_convolution_equals_dot_products(
    simulators: dict[Size, Path],
    tmp_path: Path,
    size: Size,
    stall: float,
    is_wide: int,
) -> None:
    given = {**values(*size, size[0], stall, is_wide), "count": 150}
    bench.run(simulators[size], TOP, f"{BENCHES}.convolutions", given, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize("size", BY_DAY)
@pytest.mark.parametrize(
    ("stall", "is_wide", "gives_positions"), [(0, 0, 0), (0, 0, 1), (0.3, 1, 0), (0.3, 1, 1)]
)
def test_maxima_are_the_largest_inputs(
    simulators: dict[Size, Path],
    tmp_path: Path,
    size: Size,
    stall: float,
    is_wide: int,
    gives_positions: int,
) -> None:
    given = {**values(*size, size[0], stall, is_wide), "count": 150}
    given["gives_positions"] = gives_positions
    bench.run(simulators[size], TOP, f"{BENCHES}.maxima", given, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize("size", PACKED_SIZES)
@pytest.mark.parametrize(("stall", "is_wide"), [(0, 0), (0.3, 0), (0.1, 1)])
def test_packed_convolution_equals_dot_products(
    simulators: dict[Size, Path],
    tmp_path: Path,
    size: Size,
    stall: float,
    is_wide: int,
) -> None:
    given = {**values(*size, 7, stall, is_wide), "count": 150}
    bench.run(simulators[size], TOP, f"{BENCHES}.packed_convolutions", given, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize("size", BY_DAY)
@pytest.mark.parametrize("stall", [0, 0.3])
def test_inputs_are_multiplied_by_inputs(
    simulators: dict[Size, Path], tmp_path: Path, size: Size, stall: float
) -> None:
    given = {**values(*size, 3, stall, 0), "count": 150}
    bench.run(simulators[size], TOP, f"{BENCHES}.products", given, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("size", "taps"),
    [
        pytest.param(size.values[0], taps, marks=size.marks)
        for size in BY_DAY
        for taps in ((8,) if size.values[0][0] == DEEP_MACS else (4, 8))
    ],
)
@pytest.mark.parametrize(("stall", "is_wide", "seed"), [(0, 0, 1), (0.2, 1, 2)])
def test_depthwise_equals_its_definition(
    simulators: dict[Size, Path],
    tmp_path: Path,
    size: Size,
    taps: int,
    stall: float,
    is_wide: int,
    seed: int,
) -> None:
    given = {**values(*size, seed, stall, is_wide), "taps": taps, "count": 25}
    bench.run(simulators[size], TOP, f"{BENCHES}.depthwise_rows", given, tmp_path)


@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.nightly
@pytest.mark.parametrize("vendor", [Vendor.XILINX7, Vendor.ECP5], ids=lambda vendor: vendor.value)
def test_vendor_form_works_in_every_mode(vendor: Vendor, tmp_path: Path) -> None:
    text = bench.component_verilog(MacArray(macs=32, vendor=vendor, tag_bits=TAG_BITS), TOP)
    simulator = bench.build(text + vendor_cells.model(vendor), TOP)
    given = {**values(32, 4, 5, 0.1, 0), "count": 12}
    bench.run(simulator, TOP, f"{BENCHES}.convolutions", given, tmp_path)
    bench.run(simulator, TOP, f"{BENCHES}.products", given, tmp_path)
    bench.run(simulator, TOP, f"{BENCHES}.maxima", {**given, "gives_positions": 1}, tmp_path)
    for taps in (4, 8):
        bench.run(simulator, TOP, f"{BENCHES}.depthwise_rows", {**given, "taps": taps}, tmp_path)


@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.nightly
@pytest.mark.parametrize("macs", PACKED_MACS)
def test_dsp48e1_packs_two_products(macs: int, tmp_path: Path) -> None:
    array = MacArray(macs=macs, vendor=Vendor.XILINX7, tag_bits=TAG_BITS)
    text = bench.component_verilog(array, TOP)
    simulator = bench.build(text + vendor_cells.model(Vendor.XILINX7), TOP)
    given = {**values(macs, outputs_of(macs), 5, 0.1, 0), "count": 12}
    for name in ("packed_convolutions", "convolutions"):
        bench.run(simulator, TOP, f"{BENCHES}.{name}", given, tmp_path)
    taps = 8 if macs == DEEP_MACS else 4
    bench.run(simulator, TOP, f"{BENCHES}.depthwise_rows", {**given, "taps": taps}, tmp_path)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"macs": 48}, "macs must be one of (32, 64, 128, 256), not 48"),
        ({"macs": "64"}, "macs must be one of (32, 64, 128, 256), not '64'"),
        ({"macs": 64, "lanes": 3}, "lanes must be a divisor of 8, not 3"),
        ({"macs": 64, "tag_bits": 0}, "tag_bits must be a positive integer, not 0"),
    ],
)
def test_rejects_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MacArray(**parameters)
