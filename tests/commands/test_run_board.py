"""``kiwicha run --target board``, with the simulated system at the other end of the line."""

import functools
import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kiwicha.boards.link.serial_link import Link
from kiwicha.commands import board_execution
from kiwicha.contract.configs import CONFIGS
from kiwicha.firmware.build import build_firmware
from kiwicha.sim.verilator.simulator import build_simulator
from tests.support.boards.simulated_board import FIRMWARE_ADDRESS, board_header, simulated_board
from tests.support.commands.command_line import Command

pytestmark = pytest.mark.verilator

_BLOCK_BYTES = 2048


@pytest.mark.nightly
def test_a_model_runs_on_a_board_over_a_bad_line(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator = build_simulator(CONFIGS["simd"])
    header = board_header(simulator)

    def system_files(*arguments: Any, **options: Any) -> SimpleNamespace:
        return SimpleNamespace(soc_header=header)

    monkeypatch.setattr(board_execution, "system_files", system_files)
    # A simulated board takes its time.
    patient = functools.partial(Link, tries=20, seconds_per_try=3)
    monkeypatch.setattr(board_execution, "Link", patient)
    # The firmware is there already, but for a block: only that is sent, in two frames.
    there = bytearray(build_firmware(CONFIGS["simd"], header).raw)
    there[_BLOCK_BYTES : _BLOCK_BYTES + 100] = random.Random(1).randbytes(100)
    passed, spoiled = 0, []

    def spoil(raw: bytes) -> bytes:
        # The first frame of the firmware loses a byte, and noise comes before an answer.
        nonlocal passed
        passed += len(raw)
        if passed > 1500 and "lost" not in spoiled and len(raw) > 100:
            spoiled.append("lost")
            return raw[:50] + raw[51:]
        if "lost" in spoiled and "noise" not in spoiled and len(raw) < 100:
            spoiled.append("noise")
            return b"\xff\x12" + raw
        return raw

    folder, output, report = tmp_path / "board", tmp_path / "out.bin", tmp_path / "report.json"
    folder.mkdir()
    loads = {FIRMWARE_ADDRESS: bytes(there)}
    with simulated_board(simulator, folder, loads=loads, spoil=spoil) as port:
        words = ["run", tiny, "--config", "simd", "--input", pixels, "--target", "board"]
        words += ["--board", "ulx3s_85f", "--port", port, "--output", output, "--json", report]
        code, out, err = kiwicha(*words)
    assert code == 0, err
    assert output.read_bytes() == bytes([35, 55, 50, 62])
    assert "AVERAGE_POOL_2D" in out
    measured = json.loads(report.read_text())
    assert (measured["target"], measured["bit_exact"]) == ("board", True)
    assert 100 < measured["cycles"] < 20_000
    assert spoiled == ["lost", "noise"]
