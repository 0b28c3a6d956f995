"""``kiwicha console``: a terminal on a board's serial line."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.errors import BoardError

__all__ = ["console_"]

_LEAVE = b"\x1d"
"""Ctrl-]."""
_PIECE_BYTES = 4096
_QUIET_READS = 25
"""Reads of 20 ms without a byte, after which a board has nothing more to say."""


def console_(
    port: Annotated[str, typer.Option(help="The board's serial port, /dev/ttyUSB1 for instance.")],
    baud: Annotated[int, typer.Option(help="Bits per second of the port.", min=1200)] = SERIAL_BAUD,
) -> None:
    """Show what a board says, and send it what is typed; Ctrl-] ends.

    If standard input is no terminal, it is sent, and what comes is shown until the board is quiet.
    """
    from kiwicha.boards.link.port import open_port

    line = open_port(port, baud)
    keys: int | None = sys.stdin.fileno()
    is_typed = os.isatty(sys.stdin.fileno())
    quiet = 0
    with _raw() if is_typed else _as_it_is():
        if is_typed:
            sys.stderr.write(f"{port}, {baud} bits per second; Ctrl-] ends\r\n")
        try:
            while keys is not None or quiet < _QUIET_READS:
                if keys is not None and select.select([keys], [], [], 0)[0]:
                    typed = os.read(keys, _PIECE_BYTES)
                    if is_typed and _LEAVE in typed:
                        return
                    line.write(typed)
                    keys = keys if typed else None
                came = line.read(_PIECE_BYTES)
                quiet = 0 if came else quiet + 1
                sys.stdout.write(_shown(came))
                sys.stdout.flush()
        except OSError as error:
            raise BoardError(f"the serial port must stay connected: {error}") from error


def _shown(raw: bytes) -> str:
    """Return text as it is, and a dot for any other byte."""
    kept = {*range(32, 127), *b"\n\r\t\b"}
    return "".join(chr(byte) if byte in kept else "." for byte in raw)


@contextmanager
def _raw() -> Iterator[None]:
    """Give every key at once, while the block runs."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield
