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
from kiwicha.boards.selftest.models import examples
from kiwicha.boards.selftest.runner import Runner
from kiwicha.boards.selftest.session import self_test
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import EngineError
from kiwicha.contract.self_test import SelfTestInterrupts
from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.firmware.self_test_image import build_self_test
from kiwicha.sim.verilator.simulator import build_simulator
from tests.support.boards.simulated_board import board_header, simulated_board

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
def test_a_board_whose_engine_has_an_interrupt(tmp_path: Path) -> None:
    simulator = build_simulator(CONFIG)
    firmware = build_self_test(CONFIG, board_header(simulator))
    with simulated_board(simulator, tmp_path, config=CONFIG) as port:
        link = Link(open_port(port, SERIAL_BAUD), tries=20, seconds_per_try=5)
        found = list(self_test(link, CONFIG, firmware, memory_bytes=4096, instructions=10))
    assert wrong(found) == []
    names = [item.check for item in found]
    assert names[-2:] == ["interrupts, timer", "interrupts, engine"]


def wrong(found: Sequence[Finding]) -> list[str]:
    return [str(item) for item in found if not item.is_good]
