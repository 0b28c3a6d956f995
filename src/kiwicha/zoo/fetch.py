"""Brings public models to this machine."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pooch

from kiwicha.errors import ModelError, UsageError, reason
from kiwicha.zoo.models import FOLDERS_VARIABLE, ZooModel, fetched_folder, sha256_of

__all__ = ["fetch"]

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
    except OSError as error:
        raise _unwritable(folder, error) from error
    # What it says is said by us.
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        path = Path(
            pooch.retrieve(
                model.address,
                known_hash=f"sha256:{model.sha256}",
                fname=model.file,
                path=folder,
                downloader=_Checked(model, progress),
            )
        )
        path.chmod(0o644)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return path


def _unwritable(folder: Path, error: OSError) -> UsageError:
    return UsageError(f"folder of fetched models must be writable: {reason(error)} ({folder})")


class _Checked:
    """Downloads a model for `pooch.retrieve`, and refuses another file in our words."""

    def __init__(self, model: ZooModel, progress: Callable[[int], None]) -> None:
        self._model = model
        self._progress = progress

    def __call__(self, address: str, output_file: str, owner: Any) -> None:
        model = self._model
        bar = _Bar(model.size_bytes, self._progress)
        download = pooch.HTTPDownloader(progressbar=bar, timeout=_TIMEOUT_SECONDS)
        try:
            download(address, output_file, owner)
        except _TooLongError as error:
            raise ModelError(
                f"file of {model.name} must have {model.size_bytes:,} bytes, not more ({address})"
            ) from error
        except OSError as error:
            raise UsageError(
                f"address of {model.name} must be reachable: {error} ({address}); without a "
                f"network, put {model.file} into a folder named in {FOLDERS_VARIABLE}"
            ) from error
        found = sha256_of(Path(output_file))
        if found != model.sha256:
            raise ModelError(
                f"sha256 of {model.name} must be {model.sha256}, not {found} ({address})"
            )


class _TooLongError(Exception):
    """More came than the model has: it is another file."""


class _Bar:
    """The progress bar that the downloader wants: it tells our own what has come.

    Attributes
    ----------
    total : int
        Of the answer, as the downloader sets it.
    """

    def __init__(self, most: int, progress: Callable[[int], None]) -> None:
        self.total = most
        self._most = most
        self._progress = progress
        self._received = 0

    def update(self, size: int) -> None:
        """Count bytes; a piece may be shorter than it says."""
        if self._received > self._most:
            raise _TooLongError
        self._received += size
        self._progress(min(self._received, self._most))

    def reset(self) -> None:
        """Count from 0 on again."""
        self._received = 0

    def close(self) -> None:
        """Do nothing: the bar is not this one's."""
