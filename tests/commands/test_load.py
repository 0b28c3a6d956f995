"""``kiwicha load``, and the options of ``kiwicha run --target board``."""

import os
from pathlib import Path

import pytest

from kiwicha import tools
from kiwicha.commands import load
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
