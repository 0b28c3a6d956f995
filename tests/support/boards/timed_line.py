"""A serial line whose bytes take their time, by a clock that only the line turns."""

import random
from collections import deque

from kiwicha.boards.link.frames import decode_frame, encode_frame
from kiwicha.contract.serial import SERIAL_WINDOW_BYTES, SerialOp
from tests.support.boards.scripted_board import ScriptedBoard

__all__ = ["TimedLine"]

_BITS_PER_BYTE = 10
_READ_SECONDS = 0.02
_CHECK_SECONDS_PER_BYTE = 50e-8
"""Of a CPU with 100 MHz that needs 50 cycles for each byte."""


class TimedLine:
    """Both ends of a line: a `kiwicha.boards.link.port.Port`, and a board that answers.

    Parameters
    ----------
    board : ScriptedBoard
        What answers.
    baud : int
        Bits per second.
    latency : float
        Seconds that what the board sends waits in the host's adapter.
    lost : float
        Share of frames, in either direction, of which a byte is lost.
    seed : int
        Says which.
    resets : dict
        Seconds at which the board is reset, and how long it then hears nothing.
    """

    def __init__(
        self,
        board: ScriptedBoard,
        *,
        baud: int,
        latency: float = 0.0,
        lost: float = 0.0,
        seed: int = 1,
        resets: dict[float, float] | None = None,
    ) -> None:
        self.now = 0.0
        self.lost_frames = 0
        self.most_under_way_bytes = 0
        self._board = board
        self._byte_seconds = _BITS_PER_BYTE / baud
        self._latency, self._lost, self._chance = latency, lost, random.Random(seed)
        self._resets = deque(sorted((resets or {}).items()))
        self._up_free = self._down_free = self._board_free = 0.0
        self._hears_from = 0.0
        # Frames that the board has or will have: when each is whole, and when it has been obeyed.
        self._obeyed: deque[tuple[float, float, int]] = deque()
        self._to_host: deque[tuple[float, bytes]] = deque()
        # Requests that will be answered: when, and their bytes.
        self._under_way: deque[tuple[float, int]] = deque()

    def clock(self) -> float:
        """Return the seconds that have passed."""
        return self.now

    def write(self, data: bytes) -> int:
        """Send a frame, with a zero before it."""
        self._up_free = max(self._up_free, self.now) + len(data) * self._byte_seconds
        arrived = self._up_free
        while self._resets and self._resets[0][0] <= arrived:
            when, deaf = self._resets.popleft()
            self._hears_from = when + deaf
            self._board.reset()
        body = decode_frame(self._spoiled(data[1:])[:-1])
        if body is None or arrived < self._hears_from:
            return len(data)
        while self._obeyed and self._obeyed[0][1] <= arrived:
            self._obeyed.popleft()
        kept = len(data) + sum(count for _, _, count in self._obeyed)
        if kept > SERIAL_WINDOW_BYTES:
            return len(data)
        self._board_free = max(self._board_free, arrived) + self._busy(body)
        self._obeyed.append((arrived, self._board_free, len(data)))
        answer = self._board.answer(body)
        if answer is not None:
            frame = self._spoiled(encode_frame(answer))
            start = max(self._down_free, self._board_free)
            self._down_free = start + len(frame) * self._byte_seconds
            answered = self._down_free + self._latency
            self._to_host.append((answered, frame))
            while self._under_way and self._under_way[0][0] <= self.now:
                self._under_way.popleft()
            self._under_way.append((answered, len(data)))
            under_way = sum(count for _, count in self._under_way)
            self.most_under_way_bytes = max(self.most_under_way_bytes, under_way)
        return len(data)

    def read(self, size: int) -> bytes:
        """Return what has come; else wait for it, but not long."""
        if not self._to_host or self._to_host[0][0] > self.now + _READ_SECONDS:
            self.now += _READ_SECONDS
            return b""
        self.now = max(self.now, self._to_host[0][0])
        return self._to_host.popleft()[1]

    @staticmethod
    def _busy(body: bytes) -> float:
        if body[1] != SerialOp.CHECK:
            return 0.0
        return int.from_bytes(body[6:10], "little") * _CHECK_SECONDS_PER_BYTE

    def _spoiled(self, frame: bytes) -> bytes:
        if self._chance.random() >= self._lost:
            return frame
        self.lost_frames += 1
        at = self._chance.randrange(len(frame) - 1)
        return frame[:at] + frame[at + 1 :]
