"""A board's files: which it has, and that they depend on their inputs alone."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kiwicha.boards.board import NAMES, load
from kiwicha.boards.flow.system import board_headers, check_board, system_files
from kiwicha.boards.flow.xilinx import with_scripts
from kiwicha.contract.cfu import ONCHIP_BYTES
from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS
from kiwicha.contract.peripherals import Peripheral
from kiwicha.errors import BoardError, UsageError

SIMD = CONFIGS["simd"]
PINS = ("soc.xdc", "soc.lpf")


def test_every_board_loads() -> None:
    for name in NAMES:
        board = load(name)
        assert board.name == name
        assert board.part.lower().startswith(("xc7a", "lfe5u"))


def test_a_board_that_is_not_known_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"^board must be .*, not 'arty_a7'; the nearest is arty"):
        load("arty_a7")


def test_ecp5_has_no_multipliers_for_128() -> None:
    expected = (
        "config must be simd or 32 or 64 on ecpix5_85f, not 128: an ECP5 multiplier does one int8 "
        "product, but 128 needs two"
    )
    with pytest.raises(BoardError, match=f"^{re.escape(expected)}$"):
        check_board(load("ecpix5_85f"), ENGINE_CONFIGS["128"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "arty_a7_35",
        "ecpix5_85f",
        pytest.param("arty_a7_100", marks=pytest.mark.nightly),
        pytest.param("ulx3s_85f", marks=pytest.mark.nightly),
    ],
)
def test_a_boards_files(name: str) -> None:
    board = load(name)
    made = system_files(board, SIMD, sys_clk_hz=board.sys_clk_hz)
    # The image calibrates the memory and holds the loader.
    assert len(made.boot_image.raw) <= ONCHIP_BYTES
    assert f"#define KIWICHA_SYS_CLK_HZ {board.sys_clk_hz}u" in made.soc_header
    words = made.files["soc_onchip.init"].split()
    assert int(words[0], 16) == int.from_bytes(made.boot_image.raw[:4], "little")
    assert b'$readmemh("soc_onchip.init"' in made.files["soc.v"]
    headers = board_headers(board, SIMD, sys_clk_hz=board.sys_clk_hz)
    assert "#define CSR_UART_BASE" in headers["generated/csr.h"]
    for text in (*made.files.values(), *(text.encode() for text in headers.values())):
        assert sys.prefix.encode() not in text
        assert not re.search(rb"20\d\d-\d\d-\d\d", text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "clock"),
    [
        ("arty_a7_35", rb"set_property LOC L16 \[get_ports \{spiflash_clk\}\]"),
        ("ulx3s_85f", rb"USRMCLK\s+\w+\s*\("),
        pytest.param("ecpix5_85f", rb"USRMCLK\s+\w+\s*\(", marks=pytest.mark.nightly),
    ],
)
def test_flash_memory_changes_no_address(name: str, clock: bytes) -> None:
    board = load(name)
    without = system_files(board, SIMD, sys_clk_hz=board.sys_clk_hz)
    made = system_files(board, SIMD, sys_clk_hz=board.sys_clk_hz, peripherals=[Peripheral.FLASH])
    # Firmware that comes over the serial line knows nothing of it.
    there, before = made.soc_header.splitlines(), without.soc_header.splitlines()
    assert [line for line in there if "KIWICHA_CSR_FLASH_" not in line] == before
    assert len(there) > len(before)
    assert made.boot_image.raw != without.boot_image.raw
    texts = b"".join(made.files[item] for item in sorted(made.files))
    assert re.search(clock, texts)
    assert not re.search(clock, b"".join(without.files.values()))


def test_a_board_without_a_slot_for_sd_cards_is_refused() -> None:
    expected = (
        "board must be one with a slot for SD cards, not arty_a7_35; its flash memory can hold the"
        " same image: --with-flash and kiwicha load --flash"
    )
    with pytest.raises(BoardError, match=f"^{re.escape(expected)}$"):
        system_files(
            load("arty_a7_35"), SIMD, sys_clk_hz=100_000_000, peripherals=[Peripheral.SDCARD]
        )


def test_the_loader_reads_one_place() -> None:
    both = [Peripheral.FLASH, Peripheral.SDCARD]
    with pytest.raises(BoardError, match=r"^the loader must read flash memory or SD cards, not"):
        system_files(load("ulx3s_85f"), SIMD, sys_clk_hz=50_000_000, peripherals=both)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pins"),
    [
        ("ulx3s_85f", {"clk": "H2", "mosi": "J1", "miso": "J3", "cs_n": "K2"}),
        pytest.param(
            "ecpix5_85f",
            {"clk": "P24", "mosi": "M24", "miso": "N26", "cs_n": "N21", "from_card": "N24"},
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_an_sd_card_changes_no_address(name: str, pins: dict[str, str]) -> None:
    board = load(name)
    without = system_files(board, SIMD, sys_clk_hz=board.sys_clk_hz)
    made = system_files(board, SIMD, sys_clk_hz=board.sys_clk_hz, peripherals=[Peripheral.SDCARD])
    there, before = made.soc_header.splitlines(), without.soc_header.splitlines()
    added = re.compile(r"KIWICHA_(CSR_)?SDCARD_")
    assert [line for line in there if not added.search(line)] == before
    # At most 400 kHz until the card is ready, 12.5 MHz afterwards.
    dividers = dict(re.findall(r"KIWICHA_SDCARD_(\w+) (\d+)u", made.soc_header))
    assert dividers == {
        "START_DIVIDER": str(-(-board.sys_clk_hz // 400_000)),
        "DIVIDER": str(max(4, -(-board.sys_clk_hz // 12_500_000))),
    }
    assert len(made.boot_image.raw) <= ONCHIP_BYTES
    for pin, place in pins.items():
        located = f'LOCATE COMP "spisdcard_{pin}" SITE "{place}";'.encode()
        assert located in made.files["soc.lpf"]
        assert located not in without.files["soc.lpf"]


@pytest.mark.parametrize("peripheral", [Peripheral.CAMERA, Peripheral.MICROPHONE])
def test_a_board_without_pins_is_refused(peripheral: Peripheral) -> None:
    board = dataclasses.replace(load("ulx3s_85f"), camera_pins=(), microphone_pins=())
    expected = f"^board must be one with pins for a {peripheral}, not ulx3s_85f$"
    with pytest.raises(BoardError, match=expected):
        system_files(board, SIMD, sys_clk_hz=50_000_000, peripherals=[peripheral])


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["arty_a7_35", "ulx3s_85f", "ecpix5_85f"])
def test_camera_and_microphone_change_no_address(name: str) -> None:
    board = load(name)
    without = system_files(board, SIMD, sys_clk_hz=board.sys_clk_hz)
    made = system_files(board, SIMD, sys_clk_hz=board.sys_clk_hz, peripherals=[*Peripheral])
    there, before = made.soc_header.splitlines(), without.soc_header.splitlines()
    added = re.compile(r"KIWICHA_CSR_(CAMERA|FLASH|MICROPHONE)_")
    assert [line for line in there if not added.search(line)] == before
    assert any("KIWICHA_CSR_CAMERA_PLACE1 " in line for line in there)
    assert any("KIWICHA_CSR_CAMERA_PINS_BUS_W " in line for line in there)
    assert any("KIWICHA_CSR_MICROPHONE_WRITTEN " in line for line in there)
    assert b"module I2sReceiver(" in made.files["soc.v"]
    (constraints,) = (raw.decode() for path, raw in made.files.items() if path.endswith(PINS))
    names = ["pclk", "href", "vsync", "xclk", "scl", "sda", "reset_n", "powerdown"]
    names += [f"data[{bit}]" for bit in range(8)]
    for pin in names:
        assert re.search(rf"\bcamera_{re.escape(pin)}[^\w\[]", constraints), pin
    for pin in ("bclk", "lrclk", "data"):
        assert re.search(rf"\bmicrophone_{pin}\b", constraints), pin


@pytest.mark.nightly
def test_the_text_depends_on_the_inputs_alone(tmp_path: Path) -> None:
    board = load("ulx3s_85f")
    made = system_files(board, SIMD, sys_clk_hz=50_000_000)
    words = ["ulx3s_85f", "simd", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-m", "kiwicha.boards.flow.elaborate", *words, "--sys-clk-hz", "50000000"],
        check=True,
        capture_output=True,
    )
    for name, raw in made.files.items():
        if name != "soc_onchip.init":
            assert (tmp_path / name).read_bytes() == raw
    for name, text in board_headers(board, SIMD, sys_clk_hz=50_000_000).items():
        assert (tmp_path / name).read_text() == text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mhz", "text"),
    [
        ("ecpix5_85f", 66, "No PLL config found); try 65 MHz"),
        ("ecpix5_85f", 25, "the clock that starts the memory has that frequency); try 24 MHz"),
        ("arty_a7_100", 10, "try 14 MHz"),
        ("ulx3s_85f", 200, "out of range); try 50 MHz"),
    ],
)
def test_a_clock_that_the_board_cannot_have_is_refused(name: str, mhz: int, text: str) -> None:
    board = load(name)
    expected = f"clock must be one that PLL and memory of {board.title} can have, not {mhz} MHz ("
    with pytest.raises(BoardError, match=rf"^{re.escape(expected)}.*{re.escape(text)}$"):
        system_files(board, SIMD, sys_clk_hz=mhz * 1_000_000)


@pytest.mark.slow
def test_arty_has_scripts_of_both_toolchains() -> None:
    board = load("arty_a7_35")
    made = system_files(board, SIMD, sys_clk_hz=board.sys_clk_hz)
    files = {name: raw.decode() for name, raw in with_scripts(board, made.files).items()}
    vref = "set_property INTERNAL_VREF 0.675 [get_iobanks 34]"
    assert vref in files["soc.xdc"]
    assert vref in files["openxc7.xdc"]
    assert "set_false_path" not in files["openxc7.xdc"]
    pins = re.compile(r"set_property LOC \w+ \[get_ports \{ddram_dq\[\d+\]\}\]")
    assert len(pins.findall(files["soc.xdc"])) == len(pins.findall(files["openxc7.xdc"])) == 16
    assert re.findall(r"read_verilog \{(.*)\}", files["soc.tcl"]) == ["cfu.v", "cpu.v", "soc.v"]
    assert "synth_design" in files["soc.tcl"]
    assert "--part xc7a35tcsg324-1 " in files["openxc7.sh"]
