"""A frontend and a model, one behind the other, over sound as it comes."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import DType
from kiwicha.contract.sound import RATE_HZ
from kiwicha.errors import UsageError
from kiwicha.pictures import describe
from kiwicha.program.image import Program
from kiwicha.sound.frontend import CHANNELS, FRAME_SAMPLES
from kiwicha.sound.wake_words import Detector, Manifest

__all__ = [
    "NO_WORDS",
    "SILENCE",
    "Heard",
    "Hearing",
    "Listener",
    "Windows",
    "hearing_of",
    "overlapping",
    "step_samples",
]

NO_WORDS = frozenset({"silence", "unknown"})
"""Labels of what is not said."""
_MS = 1000
_HOP_MS = 100
"""From one inference to the next, of a model that sees a window of sound each time."""
_BYTES = {DType.INT8: 128, DType.UINT8: 0}
"""What is added to a byte, so that 0 is no probability and 255 is all."""
SILENCE = b"\x80" * CHANNELS
"""Features of a frame of zeros."""


@dataclass(frozen=True)
class Hearing:
    """What a model takes and gives.

    Parameters
    ----------
    count : int
        Frames of features that an inference takes.
    hop : int
        Frames from one inference to the next: as many, if the model keeps what it has heard.
    words : tuple of (int, str)
        Which of its outputs are words.
    """

    count: int
    hop: int
    words: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Heard:
    """A word.

    Parameters
    ----------
    word : str
        Which one.
    seconds : float
        From the beginning to the end of its last frame.
    mean : float
        Mean probability.
    """

    word: str
    seconds: float
    mean: float


def step_samples(manifest: Manifest) -> int:
    """Return the samples from one frame to the next."""
    return RATE_HZ // _MS * manifest.step_ms


def hearing_of(program: Program, model: str, labels: Sequence[str], manifest: Manifest) -> Hearing:
    """Return how a model hears words: frame by frame, or in a window that moves on.

    Parameters
    ----------
    program : Program
        The model.
    model : str
        Its name, for messages.
    labels : sequence of str
        Meaning of its outputs; without any it has one, the manifest's word.
    manifest : Manifest
        What counts.

    Raises
    ------
    UsageError
        If it does neither.
    """
    tensor, *others = program.inputs
    elements = int(np.prod(tensor.shape))
    if (
        others
        or tensor.dtype is not DType.INT8
        or elements % CHANNELS
        or not (tensor.shape[-1] == CHANNELS or labels)
    ):
        raise UsageError(
            f"input of {model} must be int8 frames of {CHANNELS} features, not {describe(tensor)}"
        )
    output, *others = program.outputs
    named = tuple(labels) or (manifest.name,)
    if others or output.dtype not in _BYTES or int(np.prod(output.shape)) != len(named):
        what = f"{len(labels)} probabilities" if labels else "one probability"
        raise UsageError(f"output of {model} must be {what}, not {describe(output)}")
    count = elements // CHANNELS
    hop = count if program.states else max(_HOP_MS // manifest.step_ms, 1)
    words = tuple((k, name) for k, name in enumerate(named) if name not in NO_WORDS)
    return Hearing(count, hop, words)


class Windows:
    """Inputs of a model, from features frame by frame.

    Parameters
    ----------
    hearing : Hearing
        What the model takes. What it sees of the time before is silence.
    """

    def __init__(self, hearing: Hearing) -> None:
        self._newest = deque([SILENCE] * hearing.count, hearing.count)
        self._hop = hearing.hop
        self._left = hearing.hop

    def add(self, features: bytes) -> bytes | None:
        """Return the next input if these features complete it."""
        self._newest.append(features)
        self._left -= 1
        if self._left:
            return None
        self._left = self._hop
        return b"".join(self._newest)


class Listener:
    """Finds words in a row of answers, and knows when they were.

    Parameters
    ----------
    program : Program
        The model.
    hearing : Hearing
        What it gives.
    manifest : Manifest
        What counts.
    """

    def __init__(self, program: Program, hearing: Hearing, manifest: Manifest) -> None:
        (tensor,) = program.outputs
        self._kind = np.int8 if tensor.dtype is DType.INT8 else np.uint8
        self._offset = _BYTES[DType(tensor.dtype)]
        self._step_seconds = manifest.step_ms / _MS
        self._hearing = hearing
        period_ms = manifest.step_ms * hearing.hop
        self._detector = Detector(manifest, period_ms, len(hearing.words))
        self._inferences = 0

    def hear(self, raw: bytes) -> Heard | None:
        """Return the word that ends with this answer, if one does."""
        self._inferences += 1
        values = np.frombuffer(raw, self._kind).astype(int) + self._offset
        found = self._detector.hear([values[k] / 255 for k, _ in self._hearing.words])
        if found is None:
            return None
        number, mean = found
        last = self._inferences * self._hearing.hop - 1
        seconds = last * self._step_seconds + FRAME_SAMPLES / RATE_HZ
        return Heard(self._hearing.words[number][1], seconds, mean)


def overlapping(blocks: Iterator[NDArray[np.int16]]) -> Iterator[NDArray[np.int16]]:
    """Yield the newest frame, int16 [1, FRAME_SAMPLES], after each block once there are enough."""
    kept = np.zeros(0, np.int16)
    for block in blocks:
        kept = np.concatenate([kept, block])[-FRAME_SAMPLES:]
        if len(kept) == FRAME_SAMPLES:
            yield kept[None]
