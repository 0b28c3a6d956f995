"""Wake words: what the manifest of a model says, and when a row of probabilities is one."""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha.errors import UsageError, reason

__all__ = ["WINDOW_COUNT", "WINDOW_CUTOFF", "Detector", "Manifest", "read_manifest"]

_PAUSE_MS = 1000
"""After a word nothing counts for so long: it would be found again."""
WINDOW_CUTOFF, WINDOW_COUNT = 0.8, 3
"""What counts of a model without a manifest that sees a window of sound each time."""


@dataclass(frozen=True)
class Manifest:
    """What microWakeWord says of a model.

    Parameters
    ----------
    name : str
        The wake word.
    model : Path or None
        The model's file.
    cutoff : float
        A mean probability above it is the wake word.
    count : int
        Of the newest probabilities that count.
    step_ms : int
        From one frame of sound to the next.
    """

    name: str
    model: Path | None = None
    cutoff: float = 0.97
    count: int = 5
    step_ms: int = 10


def read_manifest(path: Path) -> Manifest:
    """Return what a manifest says.

    Raises
    ------
    UsageError
        If it cannot be read, or what it must say is missing or impossible.

    Notes
    -----
    Ref: https://esphome.io/components/micro_wake_word, model manifests of version 2.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"manifest {path} cannot be read: {reason(error)}") from error
    except ValueError as error:
        raise UsageError(f"manifest must be JSON: {error} ({path})") from error
    micro = content.get("micro") if isinstance(content, dict) else None
    if not isinstance(micro, dict) or content.get("type") != "micro":
        raise UsageError(f'manifest must have "type": "micro" and an object "micro" ({path})')
    file = content.get("model")
    if not isinstance(file, str) or not file:
        raise UsageError(f"manifest must name a file as model, not {file!r} ({path})")
    cutoff = _number(micro, "probability_cutoff", path)
    if not 0 <= cutoff < 1:
        raise UsageError(f"probability_cutoff must be 0 to less than 1, not {cutoff} ({path})")
    return Manifest(
        str(content.get("wake_word", path.stem)),
        path.parent / file,
        cutoff,
        _count(micro, "sliding_window_size", path),
        _count(micro, "feature_step_size", path),
    )


def _number(micro: dict[str, Any], key: str, path: Path) -> float:
    value = micro.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{key} must be a number, not {value!r} ({path})")
    return value


def _count(micro: dict[str, Any], key: str, path: Path) -> int:
    value = _number(micro, key, path)
    if value != int(value) or not 1 <= value <= 1000:
        raise UsageError(f"{key} must be a whole number, 1 to 1000, not {value} ({path})")
    return int(value)


class Detector:
    """Says when the mean of the newest probabilities of a word is above the cutoff.

    Parameters
    ----------
    manifest : Manifest
        What counts.
    period_ms : int
        From one probability to the next.
    words : int
        How many there are.
    """

    def __init__(self, manifest: Manifest, period_ms: int, words: int = 1) -> None:
        self._cutoff = manifest.cutoff
        self._newest = deque([(0.0,) * words] * manifest.count, manifest.count)
        self._pause = -(-_PAUSE_MS // period_ms)
        self._waiting = 0

    def hear(self, probabilities: Sequence[float]) -> tuple[int, float] | None:
        """Return the number of the word that ends here and its mean probability; None if none."""
        self._newest.append(tuple(probabilities))
        if self._waiting:
            self._waiting -= 1
            return None
        means = [sum(values) / len(values) for values in zip(*self._newest, strict=True)]
        mean = max(means)
        if mean <= self._cutoff:
            return None
        self._waiting = self._pause
        return means.index(mean), mean
