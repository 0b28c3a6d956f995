"""What resources and clock depend on changes the fingerprint, and nothing else does."""

import pytest

from kiwicha.boards.board import load
from kiwicha.boards.bringup.fingerprint import bring_up_fingerprint
from kiwicha.boards.family import Family
from kiwicha.boards.flow import fingerprint
from kiwicha.boards.flow.fingerprint import core_fingerprint, system_fingerprint
from kiwicha.boards.flow.system import CONSTRAINTS, SOURCES
from kiwicha.contract.configs import CONFIGS, Config
from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.gateware.engine.array.mac_cell import Vendor

SIMD = CONFIGS["simd"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a CFU instead of hashing its netlist."""

    def named(config: Config, vendor: Vendor) -> str:
        return f"{config.name} {vendor.name}"

    monkeypatch.setattr(fingerprint, "cfu_hash", named)


def test_a_system_is_its_cfu_its_verilog_its_pins_and_the_options() -> None:
    board, other = load("ecpix5_85f"), load("ulx3s_85f")
    files = {name: name.encode() for name in (*SOURCES, CONSTRAINTS[Family.ECP5])}
    first = system_fingerprint(board, SIMD, files)
    # The text of the CFU has names; its netlist counts.
    for name in ("cfu.v", "soc_onchip.init"):
        assert system_fingerprint(board, SIMD, {**files, name: b"0"}) == first
    assert system_fingerprint(board, SIMD, files, speed_grade=8) == first
    changes = {
        "hardware": [
            system_fingerprint(board, CONFIGS["baseline"], files),
            *(system_fingerprint(board, SIMD, {**files, n: b"0"}) for n in ("cpu.v", "soc.v")),
        ],
        "pins": [system_fingerprint(board, SIMD, {**files, "soc.lpf": b"0"})],
        "options": [
            system_fingerprint(board, SIMD, files, speed_grade=6),
            system_fingerprint(other, SIMD, files),
        ],
    }
    for what, found in changes.items():
        for changed in found:
            assert {key for key in first if changed[key] != first[key]} == {what}


def test_a_core_is_its_netlist_and_the_commands() -> None:
    first = core_fingerprint(SIMD, "Cfu", Family.XC7)
    assert core_fingerprint(SIMD, "Cfu", Family.XC7) == first
    other = core_fingerprint(CONFIGS["baseline"], "Cfu", Family.XC7)
    assert {key for key in first if other[key] != first[key]} == {"hardware"}
    for changed in (
        core_fingerprint(SIMD, "Cfu", Family.ECP5)["options"],
        core_fingerprint(SIMD, "Top", Family.XC7)["options"],
    ):
        assert changed != first["options"]


@pytest.mark.nightly
@pytest.mark.slow
def test_a_bring_up_design_is_its_netlist_its_pins_and_the_options() -> None:
    board = load("ulx3s_85f")
    pins = {"soc.lpf": b"pins", "soc.v": b"text"}
    first = bring_up_fingerprint(board, SIMD, pins, baud=SERIAL_BAUD)
    assert bring_up_fingerprint(board, SIMD, {**pins, "soc.v": b""}, baud=SERIAL_BAUD) == first
    changes = {
        "hardware": bring_up_fingerprint(board, SIMD, pins, baud=SERIAL_BAUD // 2),
        "pins": bring_up_fingerprint(board, SIMD, {"soc.lpf": b"other"}, baud=SERIAL_BAUD),
    }
    for what, changed in changes.items():
        assert {key for key in first if changed[key] != first[key]} == {what}
