"""The bring-up design for boards: pins, clock, scripts, and a bitstream."""

import re

import pytest

from kiwicha.boards.board import load
from kiwicha.boards.bringup.board import NAMES, load_pins
from kiwicha.boards.bringup.top import SOURCE, bring_up_files
from kiwicha.boards.flow.build import build_files
from kiwicha.boards.flow.xilinx import with_scripts
from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS
from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.errors import BoardError, UsageError

SIMD = CONFIGS["simd"]


@pytest.mark.parametrize("name", NAMES)
def test_the_part_is_the_systems(name: str) -> None:
    platform, board = load_pins(name).platform(), load(name)
    part = f"{platform.device}-{platform.speed}{platform.package}C"
    xilinx = f"{platform.device}{platform.package}-{platform.speed}"
    assert board.part in {part, xilinx}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_files_depend_on_the_inputs_alone(name: str) -> None:
    board = load(name)
    files = bring_up_files(board, SIMD, SERIAL_BAUD)
    assert bring_up_files(board, SIMD, SERIAL_BAUD) == files
    assert bring_up_files(board, SIMD, SERIAL_BAUD // 2) != files
    for text in files.values():
        assert b".py:" not in text


def test_ulx3s_has_its_pins_and_a_pll_for_the_systems_clock() -> None:
    board = load("ulx3s_85f")
    files = bring_up_files(board, SIMD, SERIAL_BAUD)
    pins = dict(re.findall(r'LOCATE COMP "(\w+)" SITE "(\w+)"', files["soc.lpf"].decode()))
    assert pins == {
        "clk25_0__io": "G2",
        "button_pwr_0__io": "D6",
        "uart_0__rx__io": "M1",
        "uart_0__tx__io": "L4",
        **{f"led_{number}__io": pin for number, pin in enumerate(("B2", "C2", "C1", "D2"))},
        "esp32_0__gpio0__io": "L2",
    }
    (pll,) = re.findall(r"EHXPLLL #\((.*?)\) pll", files[SOURCE].decode(), re.DOTALL)
    divider = dict(re.findall(r"\.(CLK\w+_DIV)\(32'd(\d+)\)", pll))
    ratio = int(divider["CLKFB_DIV"]) / int(divider["CLKI_DIV"])
    assert 25e6 * ratio == board.sys_clk_hz
    assert 400e6 <= board.sys_clk_hz * int(divider["CLKOP_DIV"]) <= 800e6


@pytest.mark.slow
def test_arty_has_scripts_of_both_toolchains() -> None:
    board = load("arty_a7_35")
    made = bring_up_files(board, SIMD, SERIAL_BAUD)
    files = {name: raw.decode() for name, raw in with_scripts(board, made, (SOURCE,)).items()}
    assert set(files) == {"soc.v", "soc.xdc", "soc.tcl", "openxc7.sh", "openxc7.xdc"}
    assert "-part xc7a35ticsg324-1L" in files["soc.tcl"]
    assert "add_files soc.v" in files["soc.tcl"]
    assert "write_bitstream -force -bin_file soc.bit" in files["soc.tcl"]
    assert "read_verilog soc.v; synth_xilinx" in files["openxc7.sh"]
    for name in ("soc.xdc", "openxc7.xdc"):
        for pin, port in (("E3", "clk100_0__io"), ("A9", "uart_0__rx__io"), ("H5", "led_0__io")):
            assert f'set_property LOC {pin} [get_ports "{port}"]' in files[name]
        assert "create_clock -name clk100_0__io -period 10.0" in files[name]


def test_what_a_board_cannot_have_is_refused() -> None:
    board = load("ulx3s_85f")
    with pytest.raises(BoardError, match=r"^config must be one without an engine, not 32$"):
        bring_up_files(board, ENGINE_CONFIGS["32"], SERIAL_BAUD)
    with pytest.raises(BoardError, match=r"^clock must have 16 cycles or more per bit, not "):
        bring_up_files(board, SIMD, 4_000_000)
    expected = "board must be arty_a7_35 or ulx3s_85f, not 'arty_a7_100'; the nearest is arty_a7_35"
    with pytest.raises(UsageError, match=f"^{re.escape(expected)}$"):
        load_pins("arty_a7_100")


@pytest.mark.synth
@pytest.mark.nightly
def test_ulx3s_has_a_bitstream_that_meets_the_clock() -> None:
    board = load("ulx3s_85f")
    report = build_files(
        board,
        SIMD,
        bring_up_files(board, SIMD, SERIAL_BAUD),
        (SOURCE,),
        inputs={},
        toolchain="trellis",
        sys_clk_hz=board.sys_clk_hz,
    )
    assert report.bitstream is not None
    assert len(report.bitstream) > 100_000
    assert report.timing is not None
    assert report.timing.is_met
    assert report.overflowing == []
    assert report.resources["DSP"] >= 8
