"""A board's end of the serial line in a few lines of Python, which errs when it is told to.

The simulated system answers as a board does; this answers at once, and as no board should.
"""

import os
import pty
import struct
import time
import tty
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kiwicha.boards.link.frames import decode_frame, encode_frame
from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.contract import cfu
from kiwicha.contract.serial import (
    NO_STATUS,
    SERIAL_BAUD,
    SERIAL_MAGIC,
    SERIAL_VERSION,
    SERIAL_WINDOW_BYTES,
    SerialHello,
    SerialOp,
    SerialStatus,
)
from tests.support.boards.lines import relayed

__all__ = ["Fault", "ScriptedBoard", "connected"]

Fault = Callable[[SerialOp, int, bytes], bytes | None]
"""Takes operation, how often it was asked, and the body of the answer; returns what is sent."""


class ScriptedBoard:
    """A loader without a processor.

    Parameters
    ----------
    fault : callable
        Changes answers.
    config_hash, version : int
        What it says of itself.
    keeps : bool
        Its memory keeps what is written.
    resets : bool
        It forgets that firmware ran.
    seconds : float
        How long firmware takes, after the answer to ``RUN``.
    memory_bytes : int
        How much DRAM it has.
    """

    def __init__(
        self,
        fault: Fault = lambda op, count, body: body,
        *,
        config_hash: int = 0,
        version: int = SERIAL_VERSION,
        keeps: bool = True,
        resets: bool = False,
        seconds: float = 0.0,
        memory_bytes: int = 1 << 20,
    ) -> None:
        self.asked = dict.fromkeys(SerialOp, 0)
        self.runs = 0
        self._fault, self._keeps, self._resets, self._seconds = fault, keeps, resets, seconds
        self._config_hash, self._version = config_hash, version
        self._memory = bytearray(memory_bytes)

    def answer(self, body: bytes) -> bytes | None:
        """Return the body of the answer to a request's, None if there is none."""
        op = SerialOp(body[1])
        self.asked[op] += 1
        data = self._obey(op, body[2:])
        return self._fault(op, self.asked[op], bytes([body[0], SerialStatus.OK]) + data)

    def rest(self) -> None:
        """Be deaf while firmware runs."""
        time.sleep(self._seconds)

    def reset(self) -> None:
        """Forget everything."""
        self._memory[:] = bytes(len(self._memory))
        self.runs = 0

    def _obey(self, op: SerialOp, fields: bytes) -> bytes:
        if op is SerialOp.HELLO:
            return self._hello()
        if op is SerialOp.LIMITS:
            return struct.pack("<I", SERIAL_WINDOW_BYTES)
        at = struct.unpack_from("<I", fields)[0] - cfu.DRAM_BASE
        if op is SerialOp.WRITE:
            if self._keeps:
                self._memory[at : at + len(fields) - 4] = fields[4:]
            return b""
        if op is SerialOp.RUN:
            self.runs += 0 if self._resets else 1
            return b""
        raw = bytes(self._memory[at : at + struct.unpack_from("<I", fields, 4)[0]])
        return struct.pack("<I", zlib.crc32(raw)) if op is SerialOp.CHECK else raw

    def _hello(self) -> bytes:
        return SerialHello(
            magic=SERIAL_MAGIC,
            version=self._version,
            config_hash=self._config_hash,
            sys_clk_hz=cfu.CLOCK_HZ,
            dram_bytes=len(self._memory),
            last_status=cfu.Status.OK if self.runs else NO_STATUS,
            runs=self.runs,
        ).pack()


@contextmanager
def connected(board: ScriptedBoard, *, tries: int = 3) -> Iterator[Link]:
    """Give the host's end of a line to a board, with short waits."""
    host, port = pty.openpty()
    tty.setraw(port)

    received = bytearray()

    def serve(piece: bytes) -> None:
        received.extend(piece)
        while b"\0" in received:
            coded, _, rest = received.partition(b"\0")
            received[:] = rest
            body = decode_frame(bytes(coded))
            answer = board.answer(body) if body else None
            if answer is not None:
                os.write(host, encode_frame(answer))
            if body and body[1] == SerialOp.RUN:
                board.rest()

    try:
        with relayed((host, serve)):
            yield Link(open_port(os.ttyname(port), SERIAL_BAUD), tries=tries, seconds_per_try=0.5)
    finally:
        os.close(port)
        os.close(host)
