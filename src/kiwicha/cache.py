"""Build outputs, kept under a hash of everything that went into them.

The folder is the user's cache folder, or the one that the environment variable ``KIWICHA_CACHE``
names. An entry is a folder that appears complete or not at all.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

import platformdirs
from filelock import BaseFileLock, FileLock

from kiwicha.errors import UsageError, reason

__all__ = ["build", "cache_dir", "digest", "lock", "package_versions"]

_ENVIRONMENT = "KIWICHA_CACHE"


def cache_dir() -> Path:
    """Return the folder of all entries, which need not exist."""
    named = os.environ.get(_ENVIRONMENT)
    return Path(named).expanduser() if named else platformdirs.user_cache_path("kiwicha")


def digest(parts: Iterable[str | bytes | Path]) -> str:
    """Return a hash of texts and files.

    Parameters
    ----------
    parts : iterable of str, bytes or Path
        A text or bytes count as they are, a path as the file's name and contents.

    Returns
    -------
    str
        20 hexadecimal digits; different wherever the sequence of parts differs.
    """
    state = hashlib.sha256()
    for part in parts:
        pieces = (part.name.encode(), part.read_bytes()) if isinstance(part, Path) else (part,)
        for piece in pieces:
            raw = piece.encode() if isinstance(piece, str) else piece
            # The length keeps "ab" + "c" apart from "a" + "bc".
            state.update(len(raw).to_bytes(8, "little"))
            state.update(raw)
    return state.hexdigest()[:20]


def package_versions(names: Iterable[str]) -> list[str]:
    """Return name and version of installed packages, as parts of a `digest`."""
    return [f"{name} {version(name)}" for name in names]


def build(
    kind: str,
    key: str,
    builder: Callable[[Path], None],
    *,
    on_build: Callable[[], None] | None = None,
) -> Path:
    """Return the entry of a key, building it if it is not there.

    Of several processes that want one entry, the first builds and the others wait.

    Parameters
    ----------
    kind : str
        Sort of entry, a folder of its own.
    key : str
        `digest` of all inputs of the builder.
    builder : callable
        Fills the empty folder it is given. If it raises, nothing is kept.
    on_build : callable or None
        Called before the builder, and only if it is needed.

    Raises
    ------
    UsageError
        If the cache folder cannot be written.
    """
    folder = cache_dir() / kind
    entry = folder / key
    if entry.is_dir():
        return entry
    _make(folder)
    with lock(f"{kind}-{key}"):
        if entry.is_dir():
            return entry
        if on_build is not None:
            on_build()
        # Under the lock the name is ours; what a killed builder left there goes.
        partial = folder / f"{key}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            builder(partial)
            partial.rename(entry)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return entry


def lock(name: str) -> BaseFileLock:
    """Return a lock, not yet acquired, that all processes of this user share by its name.

    Raises
    ------
    UsageError
        If the cache folder cannot be written.
    """
    locks = cache_dir() / "locks"
    _make(locks)
    return FileLock(locks / name)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cache folder must be writable: {reason(error)} ({folder}); "
            f"set {_ENVIRONMENT} to another folder"
        ) from error
