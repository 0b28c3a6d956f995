"""The file of a study: checked before it is opened, and held by one search at a time."""

import errno
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import Timeout

from kiwicha import cache
from kiwicha.errors import UsageError

__all__ = ["held"]

_FULL = (errno.ENOSPC, errno.EDQUOT)
_REMEDY = "name another file with --study"
_KEY = "op_code"
_BEGINNING = b'{"op_code":'
"""Of every line that Optuna writes."""


@contextmanager
def held(file: Path, say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Keep other searches of this user from a study while the block runs.

    An incomplete last line, which a full disk leaves, is cut off.

    Parameters
    ----------
    file : Path
        The journal, which need not exist.
    say : callable or None
        Called with a line if something was cut off.

    Raises
    ------
    UsageError
        If the file is not a study, another search holds it, or its disk is full.
    """
    lock = cache.lock(f"study-{cache.digest([str(file.resolve())])}")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UsageError(
            f"study must not be in use, but another search uses it ({file}); wait for its end, "
            f"or {_REMEDY}"
        ) from error
    try:
        _mend(file, say)
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise UsageError(
            f"study must have room on its disk ({file}: {error.strerror}); run the same command "
            "again when there is: finished points are kept"
        ) from error
    finally:
        lock.release()


def _mend(file: Path, say: Callable[[str], None] | None) -> None:
    """Cut off an incomplete last line, if all the others are a journal's."""
    if file.exists() and not file.is_file():
        raise UsageError(f"study must be a regular file, not {file}; {_REMEDY}")
    try:
        journal = file.open("r+b" if file.exists() else "x+b")
    except OSError as error:
        raise UsageError(
            f"study must be a readable and writable file: {error.strerror} ({file}); {_REMEDY}"
        ) from error
    with journal:
        *lines, rest = journal.read().split(b"\n")
        for number, line in enumerate(lines, 1):
            if not _is_record(line):
                raise UsageError(
                    f"study must be one that kiwicha explore wrote, but line {number} of {file} "
                    f"is not; {_REMEDY}"
                )
        if not rest:
            return
        if not lines and not rest.startswith(_BEGINNING):
            raise UsageError(f"study must be one that kiwicha explore wrote, not {file}; {_REMEDY}")
        journal.truncate(journal.tell() - len(rest))
    if say is not None:
        say(f"cut off the incomplete last line of {file}; its point is tried again")


def _is_record(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except ValueError:
        return False
    return isinstance(record, dict) and isinstance(record.get(_KEY), int)
