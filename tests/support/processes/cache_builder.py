"""A builder for the cache that other processes can import, whichever way pytest was started."""

import time
from pathlib import Path

from kiwicha import cache

__all__ = ["build_slowly"]

_BUILD_S = 0.3


def build_slowly(log: Path) -> None:
    """Ask the cache for an entry whose builder takes a while.

    Parameters
    ----------
    log : Path
        Receives a line for each time that the builder runs.
    """

    def builder(folder: Path) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write("built\n")
        time.sleep(_BUILD_S)
        (folder / "out").touch()

    assert (cache.build("kind", "key", builder) / "out").exists()
