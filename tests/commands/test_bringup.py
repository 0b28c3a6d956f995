"""``kiwicha bringup``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwicha.boards.bringup import replay as replays
from kiwicha.boards.flow import build as builds
from kiwicha.boards.flow.place_and_route import Timing
from kiwicha.boards.flow.report import BuildReport
from kiwicha.boards.link import port, serial_link
from kiwicha.contract.configs import CONFIGS
from kiwicha.errors import BoardError
from kiwicha.sim.reference.cfu_model import CfuModel
from kiwicha.sim.reference.cfu_orders import Instruction
from tests.support.choices import by_day
from tests.support.commands.command_line import Command

Execute = Callable[[object, list[Instruction]], tuple[int, ...]]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("ulx3s_85f",), "bringup must be given --build, --port or --target sim"),
        (("ulx3s_85f", "--target", "board"), "--target board and --port must be given together"),
        (
            ("ulx3s_85f", "--target", "sim", "--port", "/dev/x"),
            "--target board and --port must be given together",
        ),
        (
            ("ulx3s_85f", "--target", "sim", "--output", "x"),
            "--output must be given with --build",
        ),
        (
            ("ulx3s_85f", "--target", "sim", "--toolchain", "trellis"),
            "--toolchain must be given with --build",
        ),
        (
            ("ulx3s_85f", "--target", "sim", "--no-compile"),
            "--no-compile must be given with --build",
        ),
        (("nowhere",), "board must be arty_a7_35 or ulx3s_85f, not 'nowhere'"),
        (
            ("ulx3s", "--build"),
            "board must be arty_a7_35 or ulx3s_85f, not 'ulx3s'; the nearest is ulx3s_85f",
        ),
        (
            ("ulx3s_85f", "--build", "--toolchain", "vivado"),
            "toolchain of ulx3s_85f must be trellis, not 'vivado'",
        ),
        (
            ("arty_a7_35", "--target", "sim", "--baud", "9000000"),
            (
                "clock must have 16 cycles or more per bit, not 100000000 Hz at 9000000 bits per "
                "second"
            ),
        ),
    ],
)
def test_wrong_words_end_in_one_line(kiwicha: Command, words: tuple[str, ...], text: str) -> None:
    assert kiwicha.error("bringup", *words) == text


def test_a_port_that_is_not_there_is_reported(kiwicha: Command) -> None:
    error = kiwicha.error("bringup", "ulx3s_85f", "--port", "/dev/no-such-port")
    assert error.startswith("serial port must be one that can be opened: ")


class Line:
    """Stands for the line to a board that executes as the model does, or nearly so."""

    def __init__(self, mask: int) -> None:
        self.mask = mask
        self.model = CfuModel(CONFIGS["simd"])

    def request(self, op: int, fields: bytes = b"") -> bytes:
        """Forget what was executed: RESET and SHOW come here."""
        del op, fields
        self.model = CfuModel(CONFIGS["simd"])
        return b""

    def execute(self, burst: list[Instruction]) -> tuple[int, ...]:
        """Answer with some bits changed."""
        answers = [self.model.execute(*instruction) for instruction in burst]
        return tuple(answer ^ self.mask for answer in answers)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Give what sets the bits that the board has wrong."""

    def use(mask: int) -> None:
        line = Line(mask)
        monkeypatch.setattr(port, "open_port", lambda name, baud: None)
        monkeypatch.setattr(serial_link, "Link", lambda port: line)
        monkeypatch.setattr(replays, "check_design", lambda link, config, clock_hz: None)
        monkeypatch.setattr(replays, "_execute", lambda link, burst: link.execute(burst))
        monkeypatch.setattr(replays, "_wrong_cycles", lambda last, index, got: None)

    return use


def test_a_good_board(kiwicha: Command, answers: Callable[[int], None]) -> None:
    answers(0)
    code, out, _ = kiwicha("bringup", "ulx3s_85f", "--port", "x", "--vectors", "0")
    assert code == 0
    assert out.startswith("21 vectors passed: FPGA, clock, serial line and instruction tier work.")


def test_a_bad_board(kiwicha: Command, answers: Callable[[int], None]) -> None:
    answers(1 << 7)
    words = ("--port", "x", "--vectors", "1", "--seed", "7")
    code, out, _ = kiwicha("bringup", "ulx3s_85f", *words)
    assert code == 1
    lines = out.splitlines()
    assert lines[0].startswith("different: mac, instruction 0: ACCUMULATOR BIAS 0 (function id 3) ")
    assert "22 of 22 vectors differ" in lines
    code, out, _ = kiwicha("bringup", "ulx3s_85f", *words, "--json", "-")
    assert code == 1
    report = json.loads(out)["replay"]
    assert (report["target"], report["vectors"], report["seed"]) == ("board", 22, 7)
    assert report["differences"][-1]["vector"] == "random-7"
    assert report["differences"][0]["got"] == 1 << 7


def made(*, compiles: bool, **changes: Any) -> BuildReport:
    values: dict[str, Any] = {
        "board": "ulx3s_85f",
        "config": "simd",
        "part": "LFE5U-85F-6BG381C",
        "toolchain": "trellis",
        "speed_grade": None,
        "seed": 1,
        "seeds": 4,
        "sys_clk_hz": 50_000_000,
        "resources": {"LUT": 10, "FF": 20},
        "capacity": {"LUT": 100, "FF": 100},
        "modules": {"SoC": {"LUT": 10, "FF": 20}},
        "timing": Timing(60.0, 50.0, ()) if compiles else None,
        "files": {"soc.v": b"verilog"},
        "bitstream": b"bits" if compiles else None,
        "versions": {},
        "inputs": {},
        "seconds": 1.0,
    }
    return BuildReport(**(values | changes))


@pytest.mark.slow
@pytest.mark.parametrize("compiles", by_day(True, False))
def test_build_writes_what_kiwicha_load_takes(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiles: bool
) -> None:
    def build_files(*words: object, compiles: bool, **options: object) -> BuildReport:
        return made(compiles=compiles)

    monkeypatch.setattr(builds, "build_files", build_files)
    monkeypatch.chdir(tmp_path)
    words = () if compiles else ("--no-compile",)
    code, out, err = kiwicha("bringup", "ulx3s_85f", "--build", *words)
    assert code == 0, err
    folder = tmp_path / "build" / "ulx3s_85f-bringup"
    assert (folder / "soc.v").read_bytes() == b"verilog"
    assert (folder / "soc.bit").is_file() == compiles
    assert "simd on ulx3s_85f" in out


@pytest.mark.slow
def test_a_clock_that_is_missed_fails(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = made(compiles=True, timing=Timing(40.0, 50.0, ()))
    monkeypatch.setattr(builds, "build_files", lambda *words, **options: slow)
    code, out, _ = kiwicha("bringup", "ulx3s_85f", "--build", "--output", tmp_path / "x")
    assert code == 1
    assert "NOT MET" in out


def test_a_failing_line_is_an_error(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, answers: Callable[[int], None]
) -> None:
    answers(0)

    def fail(link: object, burst: object) -> tuple[int, ...]:
        raise BoardError("the serial port must stay connected: gone")

    monkeypatch.setattr(replays, "_execute", fail)
    error = kiwicha("bringup", "ulx3s_85f", "--port", "x")[2].splitlines()[-1]
    assert error == "kiwicha: the serial port must stay connected: gone"
