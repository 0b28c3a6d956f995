"""Estimates of what configurations take, beside counts."""

import json

import pytest

from kiwicha.boards.board import NAMES, load
from kiwicha.boards.capacity import CAPACITY, COUNTED, SYSTEM, family_of, refusal
from kiwicha.boards.family import Family
from kiwicha.boards.flow.synthesis import VENDORS, core_resources
from kiwicha.contract import configs
from kiwicha.explore.points import BOARDS, family_for, resources
from kiwicha.gateware.cfu import verilog
from tests.support.requirements import REPOSITORY

_MOST_LUT_DEVIATION = 0.05
"""Of estimates; the other resources are exact."""


@pytest.mark.parametrize("family", list(Family), ids=lambda family: family.value)
def test_more_hardware_is_estimated_as_more(family: Family) -> None:
    small, usual, uneven, wide, few, raw, whole, beside = (
        resources(configs.SEARCHED_FAMILY[name], family)
        for name in ("32", "64", "64-96k", "64-128k", "64-r4", "64-raw", "64-m4", "64-depthwise")
    )
    assert all(a < b for a, b in zip(small, usual, strict=True))
    assert wide[2] > usual[2]
    assert wide[:2] == usual[:2]
    # Its banks are three memories deep: LUTs choose one.
    assert uneven[0] > wide[0]
    assert usual[2] < uneven[2] < wide[2]
    assert few[0] < usual[0]
    assert few[1] < usual[1]
    assert raw[0] < usual[0]
    assert raw[1:] == usual[1:]
    assert whole[0] > usual[0]
    assert whole[1] > usual[1]
    assert all(a < b for a, b in zip(usual, beside, strict=True))


@pytest.mark.parametrize("family", list(Family), ids=lambda family: family.value)
def test_a_decoder_of_blocks_takes_lut_alone(family: Family) -> None:
    usual, blocks = (resources(configs.find_config(name), family) for name in ("64", "64-blocks"))
    assert blocks[0] > usual[0]
    assert blocks[1:] == usual[1:]


def test_multipliers_of_128_do_two_products_each() -> None:
    names = "64-softmax", "128"
    usual, large = (resources(configs.find_config(name), Family.XC7) for name in names)
    assert large[1] == usual[1]
    assert large[0] > usual[0]
    assert large[2] > usual[2]
    largest = resources(configs.find_config("256"), Family.XC7)
    # Twice the multipliers and lanes.
    assert largest[1] - large[1] == 64 + 2 * 8
    assert all(more > less for more, less in zip(largest, large, strict=True))


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("arty_a7_35-64", Family.XC7),
        ("arty_a7_100-128", Family.XC7),
        ("ecpix5_85f-32", Family.ECP5),
        ("ecpix5_85f-64", Family.ECP5),
    ],
)
def test_estimates_are_what_the_cfu_takes_of_a_board(name: str, family: Family) -> None:
    path = REPOSITORY / "docs" / "results" / "boards" / f"{name}.json"
    report = json.loads(path.read_text(encoding="utf-8"))
    estimates = resources(configs.ALL_CONFIGS[report["config"]], family)
    for kind, estimate in zip(COUNTED[family], estimates, strict=True):
        modules = report["modules"].items()
        taken = sum(counts[kind] for module, counts in modules if module.startswith("Cfu"))
        assert estimate == pytest.approx(taken, rel=_MOST_LUT_DEVIATION * (kind == "LUT"))


def test_units_have_what_the_array_leaves_them_too_little_of() -> None:
    """Reads in 128 and 256, a requantizer in 128; in 256 half of the multipliers are of LUTs."""
    taken = []
    for macs in (64, 128, 256):
        usual, beside = (
            resources(configs.find_config(f"{macs}{end}"), Family.XC7) for end in ("", "-depthwise")
        )
        taken.append([more - less for more, less in zip(beside, usual, strict=True)])
    small, large, largest = taken
    scratchpad_bram, tables_bram, requantizer_dsp = 16, 1, 16
    assert [large[1], largest[1]] == [small[1] + requantizer_dsp, small[1] / 2]
    assert largest[0] > large[0] > small[0]
    # Less the tables of sums behind convolutions.
    more = scratchpad_bram, scratchpad_bram - tables_bram
    assert (large[2] - small[2], largest[2] - small[2]) == more


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("128-8k-r4", Family.XC7),
        ("128-depthwise", Family.XC7),
        ("256-depthwise", Family.XC7),
        ("64-8k-depthwise", Family.ECP5),
        ("32-m4-raw", Family.XC7),
        ("64-48k-r4", Family.ECP5),
        ("32-8k-m4-raw", Family.ECP5),
    ],
)
def test_estimates_are_what_unusual_engines_take(name: str, family: Family) -> None:
    config = configs.SEARCHED_FAMILY[name]
    counts = core_resources(verilog(config, VENDORS[family]), "Cfu", family)
    for kind, estimate in zip(COUNTED[family], resources(config, family), strict=True):
        assert estimate == pytest.approx(counts[kind], rel=_MOST_LUT_DEVIATION * (kind == "LUT")), (
            kind
        )


def test_a_board_has_for_the_cfu_what_the_system_leaves() -> None:
    assert tuple(BOARDS) == tuple(CAPACITY)
    for name, board in BOARDS.items():
        has, system = CAPACITY[name], SYSTEM[board.family]
        left = (board.lut, board.dsp, board.bram)
        assert left == tuple(has[kind] - system[kind] for kind in COUNTED[board.family])


def test_the_family_of_a_board_is_that_of_its_resources() -> None:
    assert {name: family_of(name) for name in NAMES} == {name: load(name).family for name in NAMES}
    assert family_for(BOARDS["ulx3s_85f"]) is Family.ECP5
    assert family_for(None) is Family.XC7


def test_ecp5_is_refused_what_wants_two_products_of_a_multiplier() -> None:
    for name, config in configs.ENGINE_FAMILY.items():
        text = f"an ECP5 multiplier does one int8 product, but {name} needs two"
        assert refusal(Family.ECP5, config) == (text if name.startswith(("128", "256")) else "")
        assert refusal(Family.XC7, config) == ""
