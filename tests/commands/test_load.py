"""``kiwicha load``, and the options of ``kiwicha run --target board``."""

import os
from pathlib import Path

import pytest

from kiwicha import tools
from kiwicha.commands import load
from kiwicha.contract.cfu import IMAGE_ADDRESS
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.flash import FLASH_NO_START, FlashHeader
from tests.support.commands.command_line import Command


def test_a_bitstream_must_have_been_built(kiwicha: Command, tmp_path: Path) -> None:
    error = kiwicha.error("load", "ulx3s_85f", "--bitstream", tmp_path / "soc.bit")
    assert error.endswith("make it with: kiwicha build ulx3s_85f --config 64")
    error = kiwicha.error("load", "ulx3s_85f", "--config", "bringup")
    assert error.endswith("make it with: kiwicha bringup ulx3s_85f --build")


@pytest.mark.parametrize(("config", "text"), [("128", "config must be simd or "), ("65", "'65'")])
def test_a_config_that_cannot_be_built_is_refused(kiwicha: Command, config: str, text: str) -> None:
    assert text in kiwicha.error("load", "ecpix5_85f", "--config", config)


def test_a_missing_loader_is_reported(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "soc.bit").write_bytes(b"bits")
    present = {"apt-get": "/usr/bin/apt-get"}
    monkeypatch.setattr(load.shutil, "which", present.get)
    error = kiwicha.error("load", "ulx3s_85f", "--bitstream", tmp_path / "soc.bit")
    assert error == (
        "openFPGALoader must be installed; get it with: sudo apt-get install openfpgaloader"
    )


def test_the_loader_gets_board_and_file(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "soc.bit"
    path.write_bytes(b"bits")
    ran: list[list[str]] = []

    def run(command: list[str], name: str) -> None:
        ran.append(command)

    monkeypatch.setattr(load.shutil, "which", lambda program: f"/bin/{program}")
    monkeypatch.setattr(tools, "run", run)
    code, _, err = kiwicha("load", "arty_a7_35", "--bitstream", path)
    assert code == 0, err
    assert ran == [["openFPGALoader", "-b", "arty_a7_35t", str(path)]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--flash"], ["-b", "ulx3s", "--write-flash", "--verify", "soc.bit"]),
        ([], ["-b", "ulx3s", "soc.bit"]),
    ],
    ids=["flash", "fpga"],
)
def test_a_bitstream_goes_where_it_is_told(
    kiwicha: Command,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    expected: list[str],
) -> None:
    seen = stand_in(monkeypatch, tmp_path)
    (tmp_path / "soc.bit").write_bytes(b"bits")
    monkeypatch.chdir(tmp_path)
    code, _, err = kiwicha("load", "ulx3s_85f", "--bitstream", "soc.bit", *words)
    assert code == 0, err
    assert seen.read_text().splitlines() == expected


@pytest.mark.slow
@pytest.mark.parametrize("what", ["model", "application"])
def test_what_the_loader_reads_lies_behind_the_bitstream(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny: Path, what: str
) -> None:
    seen = stand_in(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "build" / "ulx3s_85f-simd-flash"
    (tmp_path / "application.bin").write_bytes(b"program")
    words = ["load", "ulx3s_85f", "--config", "simd", "--flash", f"--{what}"]
    words.append(str(tiny if what == "model" else "application.bin"))
    error = kiwicha.error(*words)
    assert error.endswith("make it with: kiwicha build ulx3s_85f --config simd --with-flash")
    folder.mkdir(parents=True)
    (folder / "soc.bit").write_bytes(b"bits")
    code, _, err = kiwicha(*words)
    assert code == 0, err
    path = Path("build") / "ulx3s_85f-simd-flash"
    common = ["-b", "ulx3s", "--write-flash", "--verify"]
    place = ["--offset", str(4 << 20), "--file-type", "raw"]
    assert seen.read_text().splitlines() == [
        *(*common, str(path / "soc.bit")),
        *(*common, *place, str(path / "flash.bin")),
    ]
    raw = (folder / "flash.bin").read_bytes()
    header = FlashHeader.unpack(raw[: FlashHeader.size_bytes()])
    assert header.config_hash == CONFIGS["simd"].hash
    assert header.records == (2 if what == "model" else 1)
    starts = FLASH_NO_START if what == "model" else IMAGE_ADDRESS
    assert header.start_address == starts
    (folder / "soc.bit").write_bytes(bytes((4 << 20) + 1))
    assert kiwicha.error(*words).startswith("bitstream must have at most 4194304 bytes, not ")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["model", "application"])
def test_the_image_of_an_sd_card_is_written(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny: Path, what: str
) -> None:
    seen = stand_in(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("application.bin").write_bytes(b"program")
    words = ["ulx3s_85f", "--config", "simd", "--sdcard", "my card.img", f"--{what}"]
    words.append(str(tiny if what == "model" else "application.bin"))
    code, out, err = kiwicha("load", *words)
    assert code == 0, err
    assert "sudo dd if='my card.img' of=/dev/sdX bs=1M conv=fsync\n" in out
    assert "kiwicha build ulx3s_85f --config simd --with-sdcard\n" in out
    raw = Path("my card.img").read_bytes()
    assert len(raw) % 512 == 0
    header = FlashHeader.unpack(raw[: FlashHeader.size_bytes()])
    assert header.config_hash == CONFIGS["simd"].hash
    assert header.records == (2 if what == "model" else 1)
    assert not seen.exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--model", "demo", "--flash"], "--sdcard must be given without --flash and --bitstream"),
        (["--erase"], "--erase must be given without --sdcard"),
        ([], "--sdcard must be given with --model or --application"),
        (
            ["--model", "demo", "--config", "bringup"],
            "--model or --application must be given alone",
        ),
    ],
)
def test_an_sd_card_is_written_alone(
    kiwicha: Command, tmp_path: Path, words: list[str], text: str
) -> None:
    path = tmp_path / "card.img"
    assert kiwicha.error("load", "ulx3s_85f", "--sdcard", path, *words).startswith(text)
    error = kiwicha.error("load", "arty_a7_35", "--sdcard", path, "--model", "demo")
    assert error.startswith("board must be one with a slot for SD cards, not arty_a7_35; ")
    assert not path.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "demo"],
        ["--application", "a.bin"],
        ["--flash", "--model", "demo", "--application", "a.bin"],
        ["--flash", "--model", "demo", "--config", "bringup"],
    ],
    ids=" ".join,
)
def test_what_lies_behind_the_bitstream_is_for_flash_memory(
    kiwicha: Command, words: list[str]
) -> None:
    error = kiwicha.error("load", "ulx3s_85f", *words)
    assert error.startswith("--model or --application must be given alone, with --flash")


def test_flash_memory_is_erased_alone(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = stand_in(monkeypatch, tmp_path)
    error = kiwicha.error("load", "ulx3s_85f", "--erase", "--flash")
    assert error.startswith("--erase must be given without --flash and --bitstream")
    assert not seen.exists()
    code, _, err = kiwicha("load", "ulx3s_85f", "--erase")
    assert code == 0, err
    assert seen.read_text().splitlines() == ["-b", "ulx3s", "--bulk-erase"]


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Give the file that receives the words that openFPGALoader is started with."""
    tools_folder = folder / "bin"
    tools_folder.mkdir()
    program = tools_folder / "openFPGALoader"
    seen = folder / "words"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{seen}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tools_folder), prepend=os.pathsep)
    return seen


@pytest.mark.parametrize(
    "words",
    [
        ("--target", "board"),
        ("--target", "board", "--port", "/dev/x"),
        ("--target", "board", "--board", "ulx3s_85f"),
        ("--board", "ulx3s_85f", "--port", "/dev/x"),
    ],
    ids=" ".join,
)
def test_a_board_and_its_port_come_with_the_target(
    kiwicha: Command, tiny: Path, words: tuple[str, ...]
) -> None:
    assert kiwicha.error("run", tiny, *words) == (
        "--target board, --board and --port must be given together"
    )


def test_a_port_that_is_not_there_is_reported(kiwicha: Command, tiny: Path, pixels: Path) -> None:
    words = ("--target", "board", "--board", "ulx3s_85f", "--port", "/dev/no-such-port")
    error = kiwicha.error("run", tiny, "--input", pixels, *words)
    assert error.startswith("serial port must be one that can be opened: ")


def test_a_speed_that_no_port_has_is_reported(kiwicha: Command, tiny: Path, pixels: Path) -> None:
    terminal, port = os.openpty()
    words = ("--board", "ulx3s_85f", "--port", os.ttyname(port), "--baud", str(10**10))
    try:
        error = kiwicha.error("run", tiny, "--input", pixels, "--target", "board", *words)
    finally:
        os.close(terminal)
        os.close(port)
    assert error.startswith("serial port must be one that can be opened: ")
