"""Doing something again whenever a file changes."""

import time
from collections.abc import Callable
from pathlib import Path

import typer

from kiwicha.errors import Interrupted, KiwichaError

__all__ = ["watch"]

_SECONDS = 0.3
"""Between looks at the file. What writes it may take as long."""

_State = tuple[int, int, int] | None


def watch(
    path: Path, once: Callable[[], int | None], *, wait: Callable[[float], object] = time.sleep
) -> None:
    """Call a function now and whenever a file has changed, until the user ends it.

    A file that is being written, gone or refused is waited for: the reason is printed.

    Parameters
    ----------
    path : Path
        The file.
    once : callable
        Returns cycles, which are compared with those of the time before, or None.
    wait : callable
        Takes seconds.

    Raises
    ------
    Interrupted
        When the user ends it.
    """
    before: int | None = None
    try:
        while True:
            seen = _state(path)
            try:
                cycles = once()
            except KiwichaError as error:
                typer.echo(f"kiwicha: {error}", err=True)
            else:
                if before and cycles:
                    change = 100 * (cycles / before - 1)
                    typer.echo(f"{cycles:,} cycles, {before:,} before ({change:+.1f} %)")
                before = cycles or before
            typer.echo(f"waiting for changes of {path}; Ctrl-C ends", err=True)
            while _state(path) in {seen, None}:
                wait(_SECONDS)
            # Half a file is none: what writes it must have come to rest.
            state: _State = None
            while state is None or state != _state(path):
                state = _state(path)
                wait(_SECONDS)
    except KeyboardInterrupt as error:
        raise Interrupted(f"interrupted; no longer waiting for changes of {path}") from error


def _state(path: Path) -> _State:
    """Return what tells that a file is another one; None if there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino
