"""The host's serial port."""

from typing import Protocol

import serial

from kiwicha.errors import BoardError

__all__ = ["Port", "open_port"]

_READ_SECONDS = 0.02
_WRITE_SECONDS = 5


class Port(Protocol):
    """What is used of a serial port.

    ``read`` returns what is there, as soon as something is, and nothing after a fraction of a
    second.
    """

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none if nothing came in time."""

    def write(self, data: bytes) -> int | None:
        """Send bytes."""


class _SerialPort:
    """A serial port of the machine."""

    def __init__(self, name: str, baud: int) -> None:
        self._serial = serial.Serial(
            name, baud, timeout=_READ_SECONDS, write_timeout=_WRITE_SECONDS, exclusive=True
        )

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none if nothing came in time."""
        # A larger number would be waited for, to the end of the time.
        first: bytes = self._serial.read(1)
        rest = min(size - 1, self._serial.in_waiting) if first else 0
        return first + self._serial.read(rest) if rest else first

    def write(self, data: bytes) -> int | None:
        """Send bytes."""
        count: int | None = self._serial.write(data)
        return count


def open_port(name: str, baud: int) -> Port:
    """Return a serial port.

    Parameters
    ----------
    name : str
        ``/dev/ttyUSB1``, for instance.
    baud : int
        Bits per second.

    Raises
    ------
    BoardError
        If it cannot be opened.
    """
    try:
        return _SerialPort(name, baud)
    except (OSError, ValueError, OverflowError) as error:
        raise BoardError(
            f"serial port must be one that can be opened: {error} ({name}); name the board's, "
            "/dev/ttyUSB1 for instance"
        ) from error
