"""A pseudo-terminal whose bytes take the time that a line takes, by the wall's clock."""

import os
import pty
import random
import select
import threading
import time
import tty
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from kiwicha.boards.link.frames import decode_frame, encode_frame
from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from tests.support.boards.scripted_board import ScriptedBoard

__all__ = ["PacedTerminal", "paced"]

_BITS_PER_BYTE = 10
_TURN_SECONDS = 0.001
_PIECE_BYTES = 4096


class PacedTerminal:
    """The board's side of a pseudo-terminal.

    Parameters
    ----------
    board : ScriptedBoard
        What answers.
    host : int
        Descriptor of the terminal's other end.
    baud : int
        Bits per second, in each direction.
    spoiled : float
        Share of bytes, in either direction, that are lost or followed by noise.
    resets : dict
        Seconds at which the board is reset, and how long it then hears nothing.
    seed : int
        Says which bytes are spoiled.
    """

    def __init__(
        self,
        board: ScriptedBoard,
        host: int,
        *,
        baud: int,
        spoiled: float = 0.0,
        resets: dict[float, float] | None = None,
        seed: int = 1,
    ) -> None:
        self.spoiled_bytes = 0
        self.resets_done = 0
        self._board, self._host, self._rate = board, host, baud / _BITS_PER_BYTE
        self._share, self._chance = spoiled, random.Random(seed)
        self._resets = deque(sorted((resets or {}).items()))
        self._received, self._sent = bytearray(), bytearray()

    def serve(self, stop: threading.Event) -> None:
        """Pass bytes on, until told to stop."""
        start = last = time.monotonic()
        hears_from, up, down = start, 0.0, 0.0
        while not stop.wait(_TURN_SECONDS):
            now = time.monotonic()
            # A line that was idle does not catch up, but for what a turn takes.
            up = min(up, _PIECE_BYTES) + (now - last) * self._rate
            down += (now - last) * self._rate
            last = now
            while self._resets and self._resets[0][0] <= now - start:
                hears_from = now + self._resets.popleft()[1]
                self.resets_done += 1
                self._board.reset()
                self._received.clear()
                self._sent.clear()
            if up >= 1 and select.select([self._host], [], [], 0)[0]:
                piece = os.read(self._host, min(int(up), _PIECE_BYTES))
                up -= len(piece)
                if now >= hears_from:
                    self._take(self._spoil(piece))
            else:
                up = min(up, 1.0)
            if self._sent:
                piece = bytes(self._sent[: int(down)])
                del self._sent[: len(piece)]
                down -= len(piece)
                os.write(self._host, self._spoil(piece))
            else:
                down = 0.0

    def _take(self, piece: bytes) -> None:
        self._received += piece
        while b"\0" in self._received:
            coded, _, rest = self._received.partition(b"\0")
            self._received = bytearray(rest)
            body = decode_frame(bytes(coded))
            answer = self._board.answer(body) if body else None
            if answer is not None:
                self._sent += encode_frame(answer)

    def _spoil(self, piece: bytes) -> bytes:
        if not self._share:
            return piece
        arrived = bytearray()
        for byte in piece:
            kind = self._chance.random() / self._share
            self.spoiled_bytes += kind < 1
            if kind >= 0.5:
                arrived.append(byte)
            if 0.5 <= kind < 1:
                arrived += self._chance.randbytes(3)
        return bytes(arrived)


@contextmanager
def paced(
    board: ScriptedBoard,
    *,
    baud: int,
    spoiled: float = 0.0,
    resets: dict[float, float] | None = None,
) -> Iterator[tuple[Link, PacedTerminal]]:
    """Give the host's end of such a line, opened as any serial port; arguments as for the class."""
    host, port = pty.openpty()
    tty.setraw(port)
    terminal = PacedTerminal(board, host, baud=baud, spoiled=spoiled, resets=resets)
    stop = threading.Event()
    thread = threading.Thread(target=terminal.serve, args=(stop,), daemon=True)
    thread.start()
    try:
        yield Link(open_port(os.ttyname(port), baud)), terminal
    finally:
        stop.set()
        thread.join()
        os.close(port)
        os.close(host)
