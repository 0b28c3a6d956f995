"""The self-test's check of interrupts."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.selftest import interrupts
from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.interrupts import check_interrupts
from kiwicha.boards.selftest.lists import expected_outputs, loads_of_list, start_of_list
from kiwicha.boards.selftest.models import examples
from kiwicha.boards.selftest.runner import Runner
from kiwicha.boards.selftest.session import self_test
from kiwicha.contract.cfu import ONCHIP_BASE
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import EngineError
from kiwicha.contract.self_test import (
    SELF_TEST_ADDRESS,
    SELF_TEST_DATA_ADDRESS,
    SELF_TEST_MAGIC,
    SelfTest,
    SelfTestCheck,
    SelfTestInterrupts,
)
from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.firmware.self_test_image import build_self_test
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.simulator import build_simulator
from tests.support.boards.simulated_board import FIRMWARE_ADDRESS, board_header, simulated_board

CONFIG = find_config("32-preempt")
GOOD = SelfTestInterrupts(
    timer_interrupts=1,
    timer_cycles=2100,
    engine_before=0,
    engine_waits=1,
    engine_cycles=900,
    engine_after=0,
    list_status=0,
)


class Board(Runner):
    """A runner whose firmware has found something."""

    def __init__(self, found: SelfTestInterrupts) -> None:
        self.found = found

    def check_interrupts(self, *_: Any) -> SelfTestInterrupts:
        """Return it."""
        return self.found


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Finding]]:
    """Return a function that gives the findings of what the firmware has found."""
    example = next(examples(CONFIG))

    def check(is_output_right: bool = True, **changes: int) -> list[Finding]:
        def difference(*_: Any) -> str:
            return "" if is_output_right else "bytes differ"

        monkeypatch.setattr(interrupts, "difference", difference)
        board = Board(dataclasses.replace(GOOD, **changes))
        return list(check_interrupts(board, example, np.random.default_rng(1)))

    return check


def test_good_interrupts(findings: Callable[..., list[Finding]]) -> None:
    assert [str(item) for item in findings()] == [
        "interrupts, timer: ok, came 2,100 cycles after 2,000 were asked for",
        "interrupts, engine: ok, came 900 cycles after the start of a list, and woke the CPU",
    ]


@pytest.mark.parametrize(
    ("changes", "which", "text"),
    [
        ({"timer_interrupts": 0}, 0, "expected one interrupt, got 0"),
        ({"timer_interrupts": 2}, 0, "expected one interrupt, got 2"),
        ({"timer_cycles": 1999}, 0, "2,000 to 4,000 cycles, got it after 1,999"),
        ({"timer_cycles": 4001}, 0, "2,000 to 4,000 cycles, got it after 4,001"),
        ({"engine_before": 1}, 1, "expected no interrupt before a list, but one was there"),
        ({"engine_waits": 0}, 1, "expected an interrupt at the list's end, got none in 900 cycles"),
        ({"engine_after": 1}, 1, "but it stayed"),
        ({"list_status": EngineError.WATCHDOG << 16}, 1, "got WATCHDOG at job 0"),
        ({"is_output_right": False}, 1, "bytes differ"),
    ],
)
def test_what_is_wrong_is_named(
    findings: Callable[..., list[Finding]], changes: dict[str, Any], which: int, text: str
) -> None:
    found = findings(**changes)
    assert [item.is_good for item in found] == [number != which for number in range(2)]
    assert text in found[which].difference
    assert "interrupt lines" in found[which].points_to


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_firmware_finds_both_interrupts() -> None:
    simulator = build_simulator(CONFIG)
    example = next(examples(CONFIG))
    rng = np.random.default_rng(1)
    inputs = [rng.bytes(item.ref.bytes) for item in example.program.inputs]
    start = start_of_list(example, example.image)
    answers = SELF_TEST_DATA_ADDRESS + 0x1000
    asked = SelfTest(
        magic=SELF_TEST_MAGIC,
        check=SelfTestCheck.INTERRUPTS,
        first=SELF_TEST_DATA_ADDRESS,
        bytes=0,
        count=len(start),
        answers=answers,
        **dict.fromkeys(("is_done", "wrong", "address", "expected", "got", "bits"), 0),
    )
    # Without a loader the firmware's end is that of the simulation.
    firmware = build_self_test(CONFIG, simulator.soc_header)
    ending = run_image(
        simulator,
        loads=[
            (ONCHIP_BASE, firmware.raw),
            (SELF_TEST_ADDRESS, asked.pack()),
            (SELF_TEST_DATA_ADDRESS, b"".join(item.pack() for item in start)),
            *loads_of_list(example, example.image, inputs, expected_outputs(example, inputs)),
        ],
        dumps=[(answers, SelfTestInterrupts.size_bytes())],
        max_cycles=2_000_000,
    )
    assert (ending.code, ending.uart) == (0, "")
    found = SelfTestInterrupts.unpack(ending.dumps[0])
    expected = dataclasses.replace(
        GOOD, timer_cycles=found.timer_cycles, engine_cycles=found.engine_cycles
    )
    assert found == expected
    assert 2000 <= found.timer_cycles <= 4000
    assert 0 < found.engine_cycles < 100_000


@pytest.mark.nightly
@pytest.mark.verilator
def test_a_board_whose_engine_has_an_interrupt(tmp_path: Path) -> None:
    simulator = build_simulator(CONFIG)
    firmware = build_self_test(CONFIG, board_header(simulator))
    # The firmware is there already, and need not be sent.
    loads = {FIRMWARE_ADDRESS: firmware.raw}
    with simulated_board(simulator, tmp_path, config=CONFIG, loads=loads) as port:
        link = Link(open_port(port, SERIAL_BAUD), tries=20, seconds_per_try=5)
        found = list(self_test(link, CONFIG, firmware, memory_bytes=4096, instructions=10))
    assert wrong(found) == []
    names = [item.check for item in found]
    assert names[-2:] == ["interrupts, timer", "interrupts, engine"]


def wrong(found: Sequence[Finding]) -> list[str]:
    return [str(item) for item in found if not item.is_good]
