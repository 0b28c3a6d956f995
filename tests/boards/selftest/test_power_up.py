"""The short self-test of the boot image, on the simulated board."""

import dataclasses
import time
from pathlib import Path

import pytest

from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.selftest.power_up import power_up
from kiwicha.contract.cfu import Group
from kiwicha.contract.configs import find_config
from kiwicha.contract.serial import NO_STATUS, SERIAL_BAUD
from kiwicha.firmware.power_up import PowerUp, power_up_header
from kiwicha.sim.verilator.simulator import build_simulator
from tests.support.boards.simulated_board import simulated_board

QUESTION = "sL5DdSMmkekro\n"


def said_at_power_up(config: str, folder: Path, checks: PowerUp | None = None) -> str:
    """Return what a simulated board says before its loader asks, and see that it answers."""
    heard = bytearray()

    def hear(piece: bytes) -> bytes:
        heard.extend(piece)
        return piece

    hardware = find_config(config)
    simulator = build_simulator(hardware)
    with simulated_board(simulator, folder, config=hardware, checks=checks, spoil=hear) as port:
        end = time.monotonic() + 120
        while QUESTION.encode() not in heard and time.monotonic() < end:
            time.sleep(0.05)
        text = heard.decode()
        said = Link(open_port(port, SERIAL_BAUD), tries=20, seconds_per_try=5).hello()
        assert (said.runs, said.last_status) == (0, NO_STATUS)
    return text.removesuffix(QUESTION)


@pytest.mark.parametrize("config", ["baseline", "simd", "64", "64-softmax", "64-signal"])
def test_every_group_of_instructions_is_checked(config: str) -> None:
    hardware = find_config(config)
    checks = power_up(hardware)
    assert power_up(hardware) == checks
    groups = {item.function_id & 7 for item in checks.instructions}
    expected = {*Group} - {Group.ENGINE, Group.SIGNAL} if hardware.has_simd else set()
    assert groups == expected
    assert (checks.engine is None) == (not hardware.engine_macs)
    text = power_up_header(checks)
    assert f"#define KIWICHA_POWER_UP_HAS_LIST {int(hardware.engine_macs > 0)}\n" in text
    if checks.engine is not None:
        assert len(set(checks.engine.output)) > 10
        assert checks.engine.job_count == 1


def test_answers_are_known_from_some_instruction_on() -> None:
    checks = power_up(find_config("simd"))
    answers = (*checks.answers[:-2], None, checks.answers[-1])
    with pytest.raises(ValueError, match=r"^answers must be known from some instruction on$"):
        power_up_header(dataclasses.replace(checks, answers=answers))


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("config", "text"),
    [
        ("simd", "kiwicha: memory ok, instructions ok\n"),
        pytest.param(
            "64", "kiwicha: memory ok, instructions ok, engine ok\n", marks=pytest.mark.nightly
        ),
    ],
)
def test_a_good_board_says_so(config: str, text: str, tmp_path: Path) -> None:
    assert said_at_power_up(config, tmp_path) == text


@pytest.mark.nightly
@pytest.mark.verilator
def test_a_fault_is_said_and_the_loader_starts(tmp_path: Path) -> None:
    checks = power_up(find_config("64"))
    assert checks.engine is not None
    output = bytes([checks.engine.output[0] ^ 1]) + checks.engine.output[1:]
    last = checks.answers[-1]
    assert last is not None
    wrong = dataclasses.replace(
        checks,
        answers=(*checks.answers[:-1], last ^ 1),
        engine=dataclasses.replace(checks.engine, output=output),
    )
    expected = "kiwicha: memory ok, instructions FAILED, engine FAILED\n"
    assert said_at_power_up("64", tmp_path, wrong) == expected
