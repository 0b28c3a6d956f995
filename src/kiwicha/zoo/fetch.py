"""Brings public models to this machine."""

import http.client
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from kiwicha.errors import ModelError, UsageError, reason
from kiwicha.zoo.models import FOLDERS_VARIABLE, ZooModel, fetched_folder, sha256_of

__all__ = ["fetch"]

_CHUNK_BYTES = 64 * 1024
_TIMEOUT_SECONDS = 30


def fetch(model: ZooModel, progress: Callable[[int], None] = lambda received: None) -> Path:
    """Bring a public model to this machine.

    The file appears in `kiwicha.zoo.models.fetched_folder` whole and checked, or not at all.

    Parameters
    ----------
    model : ZooModel
        The model.
    progress : callable
        Called with the number of bytes received so far.

    Raises
    ------
    UsageError
        If the address cannot be reached or the folder cannot be written.
    ModelError
        If what arrived has another sha256.
    """
    folder = fetched_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{model.file}.")
    except OSError as error:
        raise UsageError(
            f"folder of fetched models must be writable: {reason(error)} ({folder})"
        ) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            _download(model, stream.write, progress)
        found = sha256_of(part)
        if found != model.sha256:
            raise ModelError(
                f"sha256 of {model.name} must be {model.sha256}, not {found} ({model.address})"
            )
        part.chmod(0o644)
        return part.replace(folder / model.file)
    finally:
        part.unlink(missing_ok=True)


def _download(
    model: ZooModel, write: Callable[[bytes], int], progress: Callable[[int], None]
) -> None:
    received = 0
    try:
        with urllib.request.urlopen(model.address, timeout=_TIMEOUT_SECONDS) as response:
            # One byte more than listed shows that the file is another one.
            while received <= model.size_bytes and (chunk := response.read(_CHUNK_BYTES)):
                write(chunk)
                received += len(chunk)
                progress(received)
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise UsageError(
            f"address of {model.name} must be reachable: {reason} ({model.address}); without a "
            f"network, put {model.file} into a folder named in {FOLDERS_VARIABLE}"
        ) from error
