"""When, by what version and by which command a file is made."""

import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

import kiwicha

__all__ = ["made"]

_EPOCH = "SOURCE_DATE_EPOCH"
"""Names the time that builds which are to be repeated byte for byte take for the present."""


def made() -> dict[str, str]:
    """Return ``date`` in UTC, ``version`` and ``command``, as files of runs have them."""
    given = os.environ.get(_EPOCH, "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    # A program of Python that calls a command has words of its own.
    is_ours = Path(sys.argv[0]).name in {"kiwicha", "__main__.py"}
    command = shlex.join(["kiwicha", *sys.argv[1:]]) if is_ours else Path(sys.argv[0]).name
    return {
        "date": f"{now:%Y-%m-%d %H:%M} UTC",
        "version": kiwicha.__version__,
        "command": command,
    }
