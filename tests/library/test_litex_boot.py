"""An application of the SDK, loaded by LiteX's own terminal."""

import os
import pty
import shutil
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.serial import NO_STATUS, SERIAL_BAUD, SerialHello
from kiwicha.library import library, pack, sdk
from kiwicha.sim.soc.system_on_chip import HAS_LOADER
from kiwicha.sim.verilator.simulator import build_simulator, system_headers
from tests.support import library_builds
from tests.support.boards.simulated_board import simulated_board

pytestmark = pytest.mark.verilator

SIMD = CONFIGS["simd"]
TERMINAL = shutil.which("litex_term", path=str(Path(sys.executable).parent))
_OPEN_SECONDS = 0.5
"""From setting the speed on the terminal forgets what has come before, and then listens."""


class LateLine:
    """A line over which nothing comes until somebody has opened it and set its speed.

    Parameters
    ----------
    lose_at : int or None
        Place of a byte that is lost, of the first piece that is longer.
    """

    def __init__(self, lose_at: int | None = None) -> None:
        self.port = ""
        self.is_lost = False
        self._is_open = False
        self._lose_at = lose_at

    def __call__(self, raw: bytes) -> bytes:
        """Return a piece when somebody listens, perhaps without a byte."""
        while not self._is_open:
            time.sleep(0.05)
            if self.port:
                end = os.open(self.port, os.O_RDWR | os.O_NOCTTY)
                self._is_open = termios.tcgetattr(end)[4] == termios.B1000000
                os.close(end)
                time.sleep(_OPEN_SECONDS if self._is_open else 0)
        at = self._lose_at
        if at is None or self.is_lost or len(raw) <= at:
            return raw
        self.is_lost = True
        return raw[:at] + raw[at + 1 :]


@pytest.fixture(scope="module")
def application(models: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = library("first", compile_stages(models["first"], SIMD), models["first"])
    # As on a board: an application that ends goes back to the loader.
    headers = {
        name: text.replace(f"{HAS_LOADER} 0", f"{HAS_LOADER} 1")
        for name, text in system_headers(SIMD).items()
    }
    made = sdk("first", SIMD, files, headers)
    root = library_builds.unpack(pack(made, "."), tmp_path_factory.mktemp("sdk"))
    library_builds.build_sdk(root)
    return root / "build" / "application.bin"


@pytest.fixture
def keyboard() -> Iterator[int]:
    """Give a terminal on which nobody types."""
    ends = pty.openpty()
    yield ends[1]
    for end in ends:
        os.close(end)


def said_by_terminal(
    application: Path, line: LateLine, port: str, keyboard: int, *words: str
) -> str:
    """Return what LiteX's terminal prints, until the application ends or loading fails."""
    assert TERMINAL is not None
    line.port = port
    command = [TERMINAL, port, f"--speed={SERIAL_BAUD}", f"--kernel={application}"]
    command += [f"--kernel-adr={cfu.IMAGE_ADDRESS:#x}", *words]
    with subprocess.Popen(command, stdin=keyboard, stdout=subprocess.PIPE) as terminal:
        stop = threading.Timer(120, terminal.kill)
        stop.start()
        said = b""
        assert terminal.stdout is not None
        while not (b"cycles: " in said or b"failed due" in said):
            piece = terminal.stdout.read1()
            if not piece:
                break
            said += piece
        stop.cancel()
        terminal.kill()
    return said.decode(errors="replace").replace("\r", "\n")


def ask(port: str) -> SerialHello:
    """Ask the loader by our own protocol."""
    return Link(open_port(port, SERIAL_BAUD), tries=20, seconds_per_try=5).hello()


@pytest.mark.parametrize(
    "words", [[], pytest.param(["--safe"], marks=pytest.mark.nightly)], ids=["fast", "safe"]
)
def test_litex_term_boots_the_example(
    words: list[str], application: Path, example_output: str, keyboard: int, tmp_path: Path
) -> None:
    line = LateLine()
    with simulated_board(build_simulator(SIMD), tmp_path, spoil=line) as port:
        text = said_by_terminal(application, line, port, keyboard, *words)
        assert "Received firmware download request from the device." in text
        assert example_output in text
        # The application has come back to the loader, which is there as before.
        said = ask(port)
        assert (said.runs, said.last_status) == (1, Status.OK)


def test_a_lost_byte_is_noticed_and_the_loader_stays(
    application: Path, keyboard: int, tmp_path: Path
) -> None:
    # Of a frame in the middle; litex_term gives up then.
    line = LateLine(lose_at=40)
    with simulated_board(build_simulator(SIMD), tmp_path, spoil=line) as port:
        text = said_by_terminal(application, line, port, keyboard, "--safe")
        assert line.is_lost
        assert "Upload to device failed due to data corruption (CRC error)" in text
        said = ask(port)
        assert (said.runs, said.last_status) == (0, NO_STATUS)
