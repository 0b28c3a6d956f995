"""Resets, noise and lost bytes on the line to the simulated board, behind a pseudo-terminal."""

import os
import pty
import random
import select
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.selftest.session import self_test
from kiwicha.contract import cfu
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.firmware.self_test_image import build_self_test
from kiwicha.sim.verilator.simulator import Simulator, build_simulator
from tests.support.boards.simulated_board import board_header, running_board, simulated_board

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

SIMD = CONFIGS["simd"]
POWER_UP = b"kiwicha: memory ok, instructions ok\nsL5DdSMmkekro\n"


class Noise:
    """A line that loses one byte of so many, and puts others behind as many.

    Parameters
    ----------
    one_of : int
        How seldom each is.
    seed : int
        Says which.
    """

    def __init__(self, one_of: int, seed: int) -> None:
        self.lost = 0
        self.added = 0
        self._one_of, self._chance = one_of, random.Random(seed)

    def __call__(self, raw: bytes) -> bytes:
        """Return what arrives of a piece."""
        arrived = bytearray()
        for byte in raw:
            kind = self._chance.randrange(self._one_of)
            if kind == 0:
                self.lost += 1
                continue
            arrived.append(byte)
            if kind == 1:
                self.added += 1
                arrived += self._chance.randbytes(3)
        return bytes(arrived)


class Screen:
    """What a program shows on a terminal.

    Parameters
    ----------
    end : int
        Descriptor of the terminal's other end.
    """

    def __init__(self, end: int) -> None:
        self._end = end
        self._shown = bytearray()

    def wait_for(self, text: bytes, count: int = 1) -> None:
        """Read until a text has been shown so often."""
        end = time.monotonic() + 120
        while self._shown.count(text) < count:
            assert time.monotonic() < end, bytes(self._shown)
            if select.select([self._end], [], [], 0.1)[0]:
                self._shown += os.read(self._end, 1000)


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return build_simulator(SIMD)


def patient(port: str) -> Link:
    # A simulated board takes its time.
    return Link(open_port(port, SERIAL_BAUD), tries=20, seconds_per_try=5)


@pytest.mark.parametrize(("resets", "one_of"), [(1, 0), (2, 0), (1, 3000)])
def test_resets_while_it_is_loaded_cost_time_only(
    simulator: Simulator, resets: int, one_of: int, tmp_path: Path
) -> None:
    data = random.Random(1).randbytes(20_000)
    passed, left = 0, resets
    noise: Callable[[bytes], bytes] = Noise(one_of, 3) if one_of else bytes
    is_due = threading.Event()

    def spoil(raw: bytes) -> bytes:
        nonlocal passed, left
        passed += len(raw)
        if left and passed > len(data) // 2 * (resets - left + 1):
            left -= 1
            is_due.set()
        return noise(raw)

    with running_board(simulator, tmp_path, spoil=spoil) as board:
        is_over = threading.Event()

        def reset() -> None:
            while not is_over.is_set():
                if is_due.wait(0.05):
                    is_due.clear()
                    board.reset(deaf_seconds=0.3)

        thread = threading.Thread(target=reset)
        thread.start()
        try:
            link = patient(board.port)
            link.write(cfu.IMAGE_ADDRESS, data)
            assert left == 0
            assert link.read(cfu.IMAGE_ADDRESS, len(data)) == data
        finally:
            is_over.set()
            thread.join()
    if isinstance(noise, Noise):
        assert noise.lost > 0
        assert noise.added > 0


def test_the_self_test_passes_over_a_noisy_line(simulator: Simulator, tmp_path: Path) -> None:
    noise = Noise(4000, 7)
    firmware = build_self_test(SIMD, board_header(simulator))
    with simulated_board(simulator, tmp_path, spoil=noise) as port:
        found = list(self_test(patient(port), SIMD, firmware, memory_bytes=2048, instructions=20))
    assert [str(item) for item in found if not item.is_good] == []
    assert len(found) > 8
    assert noise.lost > 0
    assert noise.added > 0


def test_the_console_shows_what_a_noisy_line_brings(simulator: Simulator, tmp_path: Path) -> None:
    """What the board says after resets is there, with dots for noise."""
    is_heard = threading.Event()

    def spoil(raw: bytes) -> bytes:
        # Of what is said before the console listens, nothing.
        return raw.replace(b"m", b"m\x01") if is_heard.is_set() else b""

    keyboard, screen = pty.openpty()
    tty.setraw(screen)
    first, second = POWER_UP.replace(b"m", b"m.").splitlines()
    with running_board(simulator, tmp_path, spoil=spoil) as board:
        command = [sys.executable, "-m", "kiwicha.cli", "console", "--port", board.port]
        with subprocess.Popen(command, stdin=screen, stdout=screen, stderr=screen) as process:
            shown = Screen(keyboard)
            shown.wait_for(b"Ctrl-] ends")
            is_heard.set()
            for count in (1, 2):
                board.reset()
                shown.wait_for(first, count)
                shown.wait_for(second, count)
            os.write(keyboard, b"\x1d")
            assert process.wait(60) == 0
    for end in (keyboard, screen):
        os.close(end)
