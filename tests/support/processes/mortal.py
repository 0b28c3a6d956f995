"""Work that costs a process its life, or all of its time."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["die_first", "leave", "wait_for_ever"]


def die_first(marker: str, fn: Callable[..., Any], *args: Any) -> Any:
    """Call a function, but kill the process that comes here first.

    Parameters
    ----------
    marker : str
        File that then exists.
    fn : callable
        What is called.
    *args
        Its arguments.
    """
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return fn(*args)
    os.kill(os.getpid(), signal.SIGKILL)


def leave(file: str) -> None:
    """Make a file, and take a moment."""
    Path(file).touch()
    time.sleep(0.1)


def wait_for_ever(folder: str) -> None:
    """Leave a file named by the process and the time in a folder, and never end."""
    Path(folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
    while True:
        time.sleep(1)
