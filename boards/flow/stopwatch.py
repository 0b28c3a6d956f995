"""How long it took to build an entry of the cache."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["seconds_of", "timed"]

_FILE = "seconds"


@contextmanager
def timed(folder: Path) -> Iterator[None]:
    """Note in a folder how long the block took."""
    start = time.monotonic()
    yield
    (folder / _FILE).write_text(f"{time.monotonic() - start:.1f}\n", encoding="utf-8")


def seconds_of(folder: Path) -> float:
    """Return the time that `timed` noted."""
    return float((folder / _FILE).read_text(encoding="utf-8"))
