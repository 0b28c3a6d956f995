"""The host's end of the serial line to a board: `kiwicha.contract.serial` is the contract."""

import struct
import time
import zlib
from collections.abc import Callable, Iterable, Sequence

from kiwicha.boards.link.pipeline import Pipeline
from kiwicha.boards.link.port import Port
from kiwicha.contract.serial import (
    SERIAL_DATA_BYTES,
    SERIAL_MAGIC,
    SERIAL_VERSION,
    SerialHello,
    SerialOp,
    SerialStatus,
)
from kiwicha.errors import BoardError

__all__ = ["Link", "RefusedError"]

_TRIES = 8
_SECONDS_PER_TRY = 0.5
_BLOCK_BYTES = 2048
"""What is checked at once: an answer must come before the request is repeated."""
_ROUNDS = 4
"""How often blocks are compared: a board that is reset in between loses what it had."""


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
        The line.
    tries : int
        How often a request is sent before the board counts as silent.
    seconds_per_try : float
        How long an answer is waited for.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        port: Port,
        *,
        tries: int = _TRIES,
        seconds_per_try: float = _SECONDS_PER_TRY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line = Pipeline(port, tries=tries, seconds_per_try=seconds_per_try, clock=clock)
        self._tries = tries
        self._clock = clock
        self._known_window: int | None = None
        self.noise = self._line.noise
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
        ranges = list(_pieces(address, count, SERIAL_DATA_BYTES))
        pieces = self._requests(SerialOp.READ, [struct.pack("<II", *piece) for piece in ranges])
        for piece, (_, size) in zip(pieces, ranges, strict=True):
            if len(piece) != size:
                raise BoardError(f"the board must answer with {size} bytes, not {len(piece)}")
        return b"".join(pieces)

    def write(
        self, address: int, raw: bytes, *, on_bytes: Callable[[int], None] | None = None
    ) -> None:
        """Store bytes in the board's DRAM; else as `load`."""
        self.load([(address, raw)], on_bytes=on_bytes)

    def load(
        self,
        ranges: Iterable[tuple[int, bytes]],
        *,
        on_bytes: Callable[[int], None] | None = None,
    ) -> None:
        """Store bytes in the board's DRAM, except blocks that are there already, and check them.

        Parameters
        ----------
        ranges : iterable of tuple of int and bytes
            Address and contents. At the end all are there, even if the board was reset meanwhile.
        on_bytes : callable or None
            Called with how many bytes are there, as their number grows.

        Raises
        ------
        BoardError
            If some are not there in the end.
        """
        blocks = [
            (start, raw[start - address : start - address + size])
            for address, raw in ranges
            for start, size in _pieces(address, len(raw), _BLOCK_BYTES)
        ]
        total = sum(len(block) for _, block in blocks)
        for _ in range(_ROUNDS):
            missing = self._missing(blocks)
            there = total - sum(len(block) for _, block in missing)
            if on_bytes is not None:
                on_bytes(there)
            if not missing:
                return
            self._store(missing, there, on_bytes)
        raise BoardError(
            f"the board's memory must keep what is written to {missing[0][0]:#x}, but does not"
        )

    def _missing(self, blocks: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Return the blocks that memory does not hold."""
        ranges = [struct.pack("<II", start, len(block)) for start, block in blocks]
        sums = self._requests(SerialOp.CHECK, ranges)
        return [
            (start, block)
            for (start, block), found in zip(blocks, sums, strict=True)
            if found != struct.pack("<I", zlib.crc32(block))
        ]

    def _store(
        self,
        blocks: Sequence[tuple[int, bytes]],
        there: int,
        on_bytes: Callable[[int], None] | None,
    ) -> None:
        pieces = [
            (at, block[at - start : at - start + size])
            for start, block in blocks
            for at, size in _pieces(start, len(block), SERIAL_DATA_BYTES)
        ]

        def report(index: int) -> None:
            nonlocal there
            there += len(pieces[index][1])
            if on_bytes is not None:
                on_bytes(there)

        fields = [struct.pack("<I", at) + piece for at, piece in pieces]
        self._requests(SerialOp.WRITE, fields, on_each=report)

    def checksum(self, address: int, count: int) -> int:
        """Return the CRC-32 of bytes of the board's DRAM."""
        raw = self.request(SerialOp.CHECK, struct.pack("<II", address, count))
        return int.from_bytes(raw, "little")

    def run(self, address: int, count: int) -> None:
        """Start firmware that was written to DRAM."""
        runs = self.hello().runs
        # Not repeated blindly: an answer that is lost must not start the firmware twice.
        for _ in range(self._tries):
            answer = self._line.ask(bytes([SerialOp.RUN]) + struct.pack("<II", address, count))
            if answer is not None:
                self._checked(SerialOp.RUN, answer)
                return
            if self._line.ask(bytes([SerialOp.HELLO])) is None:
                return
            if self.hello().runs != runs:
                return
        raise self._line.silent()

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
        end = self._clock() + seconds
        while self._clock() < end:
            if self._line.ask(bytes([SerialOp.HELLO])) is not None:
                return self.hello()
        raise BoardError(
            f"firmware must end within {seconds:g} s; reset the board and try again"
            f"{self._line.heard()}"
        )

    def request(self, op: SerialOp, fields: bytes = b"") -> bytes:
        """Return the data of a request's answer.

        Raises
        ------
        BoardError
            If there is no answer, or it is a refusal.
        """
        (data,) = self._exchanged(op, [fields], 0)
        return data

    def _requests(
        self,
        op: SerialOp,
        fields: Sequence[bytes],
        *,
        on_each: Callable[[int], None] | None = None,
    ) -> list[bytes]:
        """Return the data of the answers to requests of a kind, several of which are under way."""
        return self._exchanged(op, fields, self._window() if len(fields) > 1 else 0, on_each)

    def _exchanged(
        self,
        op: SerialOp,
        fields: Sequence[bytes],
        window_bytes: int,
        on_each: Callable[[int], None] | None = None,
    ) -> list[bytes]:
        found: dict[int, bytes] = {}

        def take(index: int, answer: bytes) -> None:
            found[index] = self._checked(op, answer)
            if on_each is not None:
                on_each(index)

        self._line.exchange(
            [bytes([op]) + field for field in fields], take, window_bytes=window_bytes
        )
        return [found[index] for index in range(len(fields))]

    def _window(self) -> int:
        """Return how many bytes of requests may be under way; 0 if the board does not know."""
        if self._known_window is None:
            try:
                self._known_window = int.from_bytes(self.request(SerialOp.LIMITS), "little")
            except RefusedError as error:
                if error.status != SerialStatus.BAD_OP:
                    raise
                self._known_window = 0
        return self._known_window

    @staticmethod
    def _checked(op: SerialOp, answer: bytes) -> bytes:
        if answer[0] != SerialStatus.OK:
            raise RefusedError(op, answer[0])
        return answer[1:]


def _pieces(address: int, count: int, most: int) -> Iterable[tuple[int, int]]:
    """Yield address and size of the pieces of a range."""
    for at in range(0, count, most):
        yield address + at, min(most, count - at)
