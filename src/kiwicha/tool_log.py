"""What outside tools print: kept in a file that errors name, and shown on request."""

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kiwicha.cache import cache_dir

__all__ = ["kept", "shown"]

_FOLDER = "logs"
_MOST_FILES = 20
"""Older ones are removed."""

_viewers: list[Callable[[str], object]] = []


@contextmanager
def shown() -> Iterator[None]:
    """Show on standard error what tools are called with and what they print, in this block."""

    # What standard error is may change while a progress bar is shown.
    def write(text: str) -> None:
        sys.stderr.write(text)

    _viewers.append(write)
    try:
        yield
    finally:
        _viewers.remove(write)


def kept(name: str, command: Sequence[str], output: str, code: int, seconds: float) -> Path | None:
    """Keep what a tool printed.

    Parameters
    ----------
    name : str
        What errors call the tool.
    command : sequence of str
        Program and arguments.
    output : str
        What it printed, errors included.
    code : int
        Its exit status.
    seconds : float
        How long it ran.

    Returns
    -------
    Path or None
        The file, one for each process of ours; None if it cannot be written.
    """
    text = f"$ {shlex.join(command)}\n{output.rstrip()}\n".replace("\n\n", "\n")
    text += f"# {name}: exit status {code} after {seconds:.1f} s\n"
    for show in _viewers:
        show(text)
    path = cache_dir() / _FOLDER / f"{_STARTED}-{os.getpid()}.log"
    try:
        is_new = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
        if is_new:
            _remove_old(path.parent)
    except OSError:
        return None
    return path


_STARTED = time.strftime("%Y%m%d-%H%M%S")


def _remove_old(folder: Path) -> None:
    for path in sorted(folder.glob("*.log"))[:-_MOST_FILES]:
        # Another process may have been faster.
        path.unlink(missing_ok=True)
