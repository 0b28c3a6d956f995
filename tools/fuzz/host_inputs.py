"""What a host reads besides models: answers of a board, and files that pages are made from."""

import json
import os
import struct
import tempfile
import zlib
from functools import cache
from pathlib import Path

from kiwicha.boards.link.frames import decode_frame, encode_frame
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.link.session import run_on_board
from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.serial import SERIAL_MAGIC, SERIAL_VERSION, SerialHello, SerialOp
from kiwicha.firmware.compile import Image
from kiwicha.html_report.charts import charts, pareto
from kiwicha.html_report.data import page_runs
from kiwicha.html_report.files import read_files
from kiwicha.html_report.study import page_study
from kiwicha.program.image import Program
from tools.fuzz.seeds import small_program

__all__ = ["HostileBoard", "read_answers", "read_page"]

_DRAM_BYTES = 1 << 18
_TICK_SECONDS = 0.01
_FIRMWARE = Image(bytes(64), Path(), text_bytes=64, data_bytes=0, bss_bytes=0, stack_bytes=4096)


class HostileBoard:
    """A board that answers as bytes say, until there are no more: a `Port`, and its clock.

    The first byte for each request chooses: the right answer; the right one with bytes changed; any
    bytes, framed or not; or none.

    Parameters
    ----------
    raw : bytes
        What it says.
    config_hash : int
        Of the configuration that it names when it is right.
    """

    def __init__(self, raw: bytes, config_hash: int) -> None:
        self._raw = raw
        self._at = 0
        self._config_hash = config_hash
        self._memory = bytearray(_DRAM_BYTES)
        self._runs = 0
        self._coded = b""
        self._said = bytearray()
        self._seconds = 0.0

    def seconds(self) -> float:
        """Return the time, which each look at the clock advances."""
        self._seconds += _TICK_SECONDS
        return self._seconds

    def read(self, size: int) -> bytes:
        """Return what it has said."""
        found = bytes(self._said[:size])
        del self._said[:size]
        return found

    def write(self, data: bytes) -> int:
        """Take requests, and answer each."""
        *frames, self._coded = (self._coded + data).split(b"\0")
        for frame in frames:
            body = decode_frame(frame)
            if body is not None and len(body) >= 2:
                self._answer(body)
        return len(data)

    def _next(self, count: int) -> bytes:
        found = self._raw[self._at : self._at + count]
        self._at += count
        return found

    def _answer(self, body: bytes) -> None:
        (way,) = self._next(1) or b"\xff"
        right = body[:1] + self._right(body[1], body[2:])
        if way < 0x80:
            self._said += encode_frame(right)
        elif way < 0xA0:
            changed = bytearray(right)
            for place, byte in struct.iter_unpack(
                "<HB", self._next(3 * (1 + way % 4)).ljust(3)[:3]
            ):
                changed[1 + place % (len(changed) - 1)] ^= byte
            self._said += encode_frame(bytes(changed))
        elif way < 0xC0:
            self._said += encode_frame(body[:1] + self._next(way % 32))
        elif way < 0xE0:
            self._said += self._next(2 * (way % 32)) + encode_frame(right)

    def _right(self, op: int, fields: bytes) -> bytes:
        """Return status and data that a board would answer with."""
        address, count = struct.unpack("<II", fields[:8].ljust(8, b"\0"))
        place = slice(address - DRAM_BASE, address - DRAM_BASE + count)
        data = b""
        if op == SerialOp.HELLO:
            said = SerialHello(
                *(SERIAL_MAGIC, SERIAL_VERSION, self._config_hash, 100_000_000),
                *(_DRAM_BYTES, self._next(1)[0] if self._at < len(self._raw) else 0, self._runs),
            )
            data = said.pack()
        elif op == SerialOp.LIMITS:
            data = struct.pack("<I", 4096)
        elif op == SerialOp.READ:
            data = bytes(self._memory[place])
        elif op == SerialOp.WRITE:
            self._memory[place.start : place.start + len(fields) - 4] = fields[4:]
        elif op == SerialOp.CHECK:
            data = struct.pack("<I", zlib.crc32(self._memory[place]))
        elif op == SerialOp.RUN:
            self._runs += 1
        return b"\0" + data


@cache
def _program() -> Program:
    return Program.from_bytes(small_program())


def read_answers(raw: bytes) -> None:
    """Run a Program on a board that answers as bytes say.

    Raises
    ------
    BoardError
        Whatever it answers, unless that is right.
    """
    program = _program()
    board = HostileBoard(raw, program.config.hash)
    link = Link(board, tries=2, seconds_per_try=0.05, clock=board.seconds)
    inputs = [bytes(item.ref.bytes) for item in program.inputs]
    run_on_board(link, program, inputs, _FIRMWARE, seconds=0.5)


def read_page(raw: bytes) -> None:
    """Make a page's data from a file.

    Raises
    ------
    UsageError
        If it is none that ``kiwicha`` writes.
    """
    descriptor, name = tempfile.mkstemp(suffix=".json")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
        runs, study = read_files([Path(name)])
        shown = None if study is None else page_study(study)
        json.dumps([page_runs(runs), charts(), shown], allow_nan=False)
        if shown is not None:
            json.dumps(pareto(shown["axes"], shown["titles"]), allow_nan=False)
    finally:
        Path(name).unlink()
