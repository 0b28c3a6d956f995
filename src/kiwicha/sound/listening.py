"""A frontend and a streaming model, one behind the other, over sound as it comes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import DType
from kiwicha.errors import UsageError
from kiwicha.pictures import describe
from kiwicha.program.image import Program
from kiwicha.sound.frontend import CHANNELS, FRAME_SAMPLES, RATE_HZ
from kiwicha.sound.wake_words import Detector, Manifest

__all__ = ["Heard", "Listener", "frames_of", "overlapping", "probability", "step_samples"]

_MS = 1000
_BYTES = {DType.INT8: 128, DType.UINT8: 0}
"""What is added to a byte, so that 0 is no probability and 255 is all."""


@dataclass(frozen=True)
class Heard:
    """A wake word.

    Parameters
    ----------
    seconds : float
        From the beginning to the end of its last frame.
    mean : float
        Mean probability.
    """

    seconds: float
    mean: float


def step_samples(manifest: Manifest) -> int:
    """Return the samples from one frame to the next."""
    return RATE_HZ // _MS * manifest.step_ms


def frames_of(program: Program, model: str) -> int:
    """Return how many frames of features a model takes at a time.

    Raises
    ------
    UsageError
        If it is none that hears a wake word frame by frame.
    """
    tensor, *others = program.inputs
    elements = int(np.prod(tensor.shape))
    if (
        others
        or tensor.dtype is not DType.INT8
        or elements % CHANNELS
        or tensor.shape[-1] != CHANNELS
    ):
        raise UsageError(
            f"input of {model} must be int8 frames of {CHANNELS} features, not {describe(tensor)}"
        )
    if not program.states:
        raise UsageError(
            f"{model} must keep what it has heard from one inference to the next, as models for "
            "streams do; this one hears a recording as a whole: kiwicha run"
        )
    output, *others = program.outputs
    if others or output.dtype not in _BYTES or int(np.prod(output.shape)) != 1:
        raise UsageError(f"output of {model} must be one probability, not {describe(output)}")
    return elements // CHANNELS


def probability(program: Program, raw: bytes) -> float:
    """Return what a model's output says, 0 to 1."""
    (tensor,) = program.outputs
    kind = np.int8 if tensor.dtype is DType.INT8 else np.uint8
    return (int(np.frombuffer(raw, kind)[0]) + _BYTES[DType(tensor.dtype)]) / 255


class Listener:
    """Finds wake words in a row of probabilities, and knows when they were.

    Parameters
    ----------
    manifest : Manifest
        What counts.
    count : int
        Frames of an inference.
    """

    def __init__(self, manifest: Manifest, count: int) -> None:
        self._step_seconds = manifest.step_ms / _MS
        self._count = count
        self._detector = Detector(manifest, manifest.step_ms * count)
        self._inferences = 0

    def hear(self, value: float) -> Heard | None:
        """Return the wake word that ends with this probability, if one does."""
        self._inferences += 1
        mean = self._detector.hear(value)
        last = self._inferences * self._count - 1
        seconds = last * self._step_seconds + FRAME_SAMPLES / RATE_HZ
        return None if mean is None else Heard(seconds, mean)


def overlapping(blocks: Iterator[NDArray[np.int16]]) -> Iterator[NDArray[np.int16]]:
    """Yield the newest frame, int16 [1, FRAME_SAMPLES], after each block once there are enough."""
    kept = np.zeros(0, np.int16)
    for block in blocks:
        kept = np.concatenate([kept, block])[-FRAME_SAMPLES:]
        if len(kept) == FRAME_SAMPLES:
            yield kept[None]
