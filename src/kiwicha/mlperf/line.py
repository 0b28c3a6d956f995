"""The line between the runner of MLPerf Tiny and a device: a serial port or a pseudo-terminal."""

import os
import pty
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from kiwicha.boards.link.port import open_port
from kiwicha.mlperf.device import Device

__all__ = ["Line", "opened_line", "serve"]

_READ_BYTES = 4096


class Line(Protocol):
    """What is used of a line; ``read`` returns None at its end."""

    def read(self) -> bytes | None:
        """Return what came, none if nothing came in time."""

    def write(self, data: bytes) -> None:
        """Send bytes."""


class _Terminal:
    """The near end of a pseudo-terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self) -> bytes | None:
        """Return what came."""
        try:
            return os.read(self._descriptor, _READ_BYTES) or None
        except OSError:
            return None

    def write(self, data: bytes) -> None:
        """Send bytes."""
        while data:
            data = data[os.write(self._descriptor, data) :]


class _Port:
    """A serial port."""

    def __init__(self, name: str, baud: int) -> None:
        self._port = open_port(name, baud)

    def read(self) -> bytes | None:
        """Return what came in time."""
        return self._port.read(_READ_BYTES)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._port.write(data)


@contextmanager
def opened_line(name: str | None, baud: int) -> Iterator[tuple[Line, str]]:
    """Open a line; give it with the name of the port that the runner has to open.

    Parameters
    ----------
    name : str or None
        Of a serial port; without, a pseudo-terminal is made.
    baud : int
        Bits per second of the serial port.

    Raises
    ------
    BoardError
        If the port cannot be opened.
    """
    if name is not None:
        yield _Port(name, baud), f"at the other end of {name}"
        return
    near, far = pty.openpty()
    try:
        # Bytes as they are: no echo, and no lines.
        tty.setraw(far)
        yield _Terminal(near), os.ttyname(far)
    finally:
        os.close(near)
        os.close(far)


def serve(device: Device, line: Line) -> None:
    """Answer what comes over a line, until it ends."""
    line.write(device.greeting())
    while (data := line.read()) is not None:
        if answer := device.feed(data):
            line.write(answer)
