"""Threads that pass on what comes from pipes and terminals, until they are told to stop."""

import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["relayed"]

_PIECE_BYTES = 512
_POLL_SECONDS = 0.05


@contextmanager
def relayed(*lines: tuple[int, Callable[[bytes], object]]) -> Iterator[None]:
    """Hand over what comes from file descriptors while the block runs.

    The threads have ended before anyone can close the descriptors and get their numbers anew.

    Parameters
    ----------
    lines : tuple of int and callable
        A descriptor to read, and what takes each piece. A line that breaks is read no more.
    """
    stop = threading.Event()

    def serve(source: int, take: Callable[[bytes], object]) -> None:
        try:
            while not stop.is_set():
                if select.select([source], [], [], _POLL_SECONDS)[0]:
                    take(os.read(source, _PIECE_BYTES))
        except OSError:
            return

    threads = [threading.Thread(target=serve, args=line, daemon=True) for line in lines]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
