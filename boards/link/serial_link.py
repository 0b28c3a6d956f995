"""The host's end of the serial line to a board: `kiwicha.contract.serial` is the contract."""

import struct
import time
import zlib
from collections.abc import Callable
from typing import Protocol

import serial

from kiwicha.contract.serial import (
    SERIAL_DATA_BYTES,
    SERIAL_MAGIC,
    SERIAL_VERSION,
    SerialHello,
    SerialOp,
    SerialStatus,
)
from kiwicha.errors import BoardError

__all__ = ["Link", "Port", "RefusedError", "decode_frame", "encode_frame", "open_port"]

_LONGEST_BLOCK = 254
_TRIES = 8
_SECONDS_PER_TRY = 0.5
_READ_BYTES = 4096
_BLOCK_BYTES = 2048
"""What is checked at once: an answer must come before the request is repeated."""


class Port(Protocol):
    """What is used of a serial port; ``read`` returns what came before its timeout."""

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none if nothing came in time."""

    def write(self, data: bytes) -> int | None:
        """Send bytes."""


def encode_frame(body: bytes) -> bytes:
    """Return a frame: body and CRC-32 without zero bytes, and a zero."""
    raw = body + struct.pack("<I", zlib.crc32(body))
    coded = bytearray()
    # Every block stands for its bytes and a zero, which the last one lacks.
    for piece in raw.split(b"\0"):
        at = 0
        while len(piece) - at >= _LONGEST_BLOCK:
            coded += bytes([_LONGEST_BLOCK + 1]) + piece[at : at + _LONGEST_BLOCK]
            at += _LONGEST_BLOCK
        coded += bytes([len(piece) - at + 1]) + piece[at:]
    return bytes(coded) + b"\0"


def decode_frame(coded: bytes) -> bytes | None:
    """Return the body of a frame without its zero; None if it is none.

    Parameters
    ----------
    coded : bytes
        What came before a zero byte.
    """
    raw = bytearray()
    at = 0
    while at < len(coded):
        code = coded[at]
        if code == 0 or at + code > len(coded):
            return None
        raw += coded[at + 1 : at + code]
        at += code
        if code <= _LONGEST_BLOCK and at < len(coded):
            raw.append(0)
    body, crc = bytes(raw[:-4]), bytes(raw[-4:])
    return body if len(raw) >= 4 and crc == struct.pack("<I", zlib.crc32(body)) else None


class RefusedError(BoardError):
    """The board answered that it does not do what was asked.

    Parameters
    ----------
    op : SerialOp
        What was asked.
    status : int
        The answer, a `SerialStatus` if this version knows it.
    """

    def __init__(self, op: SerialOp, status: int) -> None:
        self.status = status
        name = SerialStatus(status).name if status in set(SerialStatus) else str(status)
        super().__init__(f"the board refused {op.name}: {name}")


class Link:
    """Requests to a board, repeated until they are answered.

    Parameters
    ----------
    port : Port
        The line, with a timeout of a fraction of a second.
    tries : int
        How often a request is sent before the board counts as silent.
    seconds_per_try : float
        How long an answer is waited for.
    """

    def __init__(
        self, port: Port, *, tries: int = _TRIES, seconds_per_try: float = _SECONDS_PER_TRY
    ) -> None:
        self._port = port
        self._tries = tries
        self._seconds = seconds_per_try
        self._number = 0
        self._received = bytearray()
        self.noise = bytearray()
        """What came and was no frame: messages of firmware, or a wrong speed."""

    def hello(self) -> SerialHello:
        """Return what the board says of itself.

        Raises
        ------
        BoardError
            If it does not answer, or speaks another version.
        """
        raw = self.request(SerialOp.HELLO)
        if len(raw) != SerialHello.size_bytes():
            raise BoardError(f"the board must answer with {SerialHello.size_bytes()} bytes")
        said = SerialHello.unpack(raw)
        if (said.magic, said.version) != (SERIAL_MAGIC, SERIAL_VERSION):
            raise BoardError(
                f"the board's loader must be of version {SERIAL_VERSION}, not {said.version}; load"
                " a bitstream of this version of Kiwicha"
            )
        return said

    def read(self, address: int, count: int) -> bytes:
        """Return bytes of the board's DRAM."""
        raw = bytearray()
        while len(raw) < count:
            size = min(SERIAL_DATA_BYTES, count - len(raw))
            piece = self.request(SerialOp.READ, struct.pack("<II", address + len(raw), size))
            if len(piece) != size:
                raise BoardError(f"the board must answer with {size} bytes, not {len(piece)}")
            raw += piece
        return bytes(raw)

    def write(
        self, address: int, raw: bytes, *, on_bytes: Callable[[int], None] | None = None
    ) -> None:
        """Store bytes in the board's DRAM, except blocks that are there already, and check them.

        ``on_bytes`` is called with how many are there, as their number grows.
        """
        for at in range(0, len(raw), _BLOCK_BYTES):
            block, start = raw[at : at + _BLOCK_BYTES], address + at
            if self.checksum(start, len(block)) != zlib.crc32(block):
                self._store(start, block)
            if on_bytes is not None:
                on_bytes(at + len(block))

    def _store(self, start: int, block: bytes) -> None:
        for offset in range(0, len(block), SERIAL_DATA_BYTES):
            piece = block[offset : offset + SERIAL_DATA_BYTES]
            self.request(SerialOp.WRITE, struct.pack("<I", start + offset) + piece)
        if self.checksum(start, len(block)) != zlib.crc32(block):
            raise BoardError(
                f"the board's memory must keep what is written to {start:#x}, but does not"
            )

    def checksum(self, address: int, count: int) -> int:
        """Return the CRC-32 of bytes of the board's DRAM."""
        raw = self.request(SerialOp.CHECK, struct.pack("<II", address, count))
        return int.from_bytes(raw, "little")

    def run(self, address: int, count: int) -> None:
        """Start firmware that was written to DRAM."""
        runs = self.hello().runs
        body = self._body(SerialOp.RUN, struct.pack("<II", address, count))
        # Not repeated blindly: an answer that is lost must not start the firmware twice.
        for _ in range(self._tries):
            answer = self._ask(body)
            if answer is not None:
                self._checked(SerialOp.RUN, answer)
                return
            if self._ask(self._body(SerialOp.HELLO, b"")) is None:
                return
            if self.hello().runs != runs:
                return
        raise self._silent()

    def wait(self, seconds: float) -> SerialHello:
        """Return what the board says when its firmware has ended.

        Parameters
        ----------
        seconds : float
            How long that may take.

        Raises
        ------
        BoardError
            If it does not end in time.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._ask(self._body(SerialOp.HELLO, b"")) is not None:
                return self.hello()
        raise BoardError(
            f"firmware must end within {seconds:g} s; reset the board and try again{self._heard()}"
        )

    def request(self, op: SerialOp, fields: bytes = b"") -> bytes:
        """Return the data of a request's answer.

        Raises
        ------
        BoardError
            If there is no answer, or it is a refusal.
        """
        body = self._body(op, fields)
        for _ in range(self._tries):
            answer = self._ask(body)
            if answer is not None:
                return self._checked(op, answer)
        raise self._silent()

    def _body(self, op: SerialOp, fields: bytes) -> bytes:
        self._number = (self._number + 1) % 256
        return bytes([self._number, op]) + fields

    def _ask(self, body: bytes) -> bytes | None:
        """Send a request once; return status and data, None if no answer came."""
        try:
            # The zero ends whatever the loader has received so far.
            self._port.write(b"\0" + encode_frame(body))
            end = time.monotonic() + self._seconds
            while time.monotonic() < end:
                self._received += self._port.read(_READ_BYTES)
                while b"\0" in self._received:
                    coded, _, rest = self._received.partition(b"\0")
                    self._received = rest
                    answer = decode_frame(bytes(coded))
                    if answer is None or len(answer) < 2:
                        self.noise += coded
                    elif answer[0] == body[0]:
                        return answer[1:]
        except OSError as error:
            raise BoardError(f"the serial port must stay connected: {error}") from error
        return None

    @staticmethod
    def _checked(op: SerialOp, answer: bytes) -> bytes:
        if answer[0] != SerialStatus.OK:
            raise RefusedError(op, answer[0])
        return answer[1:]

    def _silent(self) -> BoardError:
        return BoardError(
            "the board must answer: check the port, the cable and --baud, load the bitstream again"
            f"{self._heard()}"
        )

    def _heard(self) -> str:
        heard = bytes(self.noise + self._received)
        if not heard:
            return " (nothing came)"
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in heard[-80:])
        return f" (what came was no answer: {text!r})"


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
        port: Port = serial.Serial(name, baud, timeout=0.02, write_timeout=5, exclusive=True)
    except (OSError, ValueError, OverflowError) as error:
        raise BoardError(
            f"serial port must be one that can be opened: {error} ({name}); name the board's, "
            "/dev/ttyUSB1 for instance"
        ) from error
    return port
