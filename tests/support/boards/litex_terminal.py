"""LiteX's own terminal at a pseudo-terminal, which loads an application into a board."""

import io
import os
import pty
import shutil
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kiwicha.contract.serial import SERIAL_BAUD

__all__ = ["LateLine", "keyboard", "said_by_terminal"]

_TERMINAL = shutil.which("litex_term", path=str(Path(sys.executable).parent))
_MOST_SECONDS = 300
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


@contextmanager
def keyboard() -> Iterator[int]:
    """Give a terminal on which nobody types."""
    ends = pty.openpty()
    try:
        yield ends[1]
    finally:
        for end in ends:
            os.close(end)


def said_by_terminal(
    application: Path,
    line: LateLine,
    port: str,
    *words: str,
    address: int,
    last: bytes = b"cycles: ",
) -> str:
    """Return what LiteX's terminal prints, until the application ends or loading fails.

    Parameters
    ----------
    application : Path
        Its image.
    line : LateLine
        What it is sent through.
    port : str
        The board's serial port.
    words : str
        Options of ``litex_term``.
    address : int
        Where the image goes.
    last : bytes
        What the application prints last.
    """
    assert _TERMINAL is not None
    line.port = port
    command = [_TERMINAL, port, f"--speed={SERIAL_BAUD}", f"--kernel={application}"]
    command += [f"--kernel-adr={address:#x}", *words]
    with (
        keyboard() as keys,
        subprocess.Popen(command, stdin=keys, stdout=subprocess.PIPE) as terminal,
    ):
        stop = threading.Timer(_MOST_SECONDS, terminal.kill)
        stop.start()
        said = b""
        assert isinstance(terminal.stdout, io.BufferedReader)
        while not (last in said or b"failed due" in said):
            piece = terminal.stdout.read1()
            if not piece:
                break
            said += piece
        stop.cancel()
        terminal.kill()
    return said.decode(errors="replace").replace("\r", "\n")
