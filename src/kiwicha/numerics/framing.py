"""Frames of a line of samples that goes on from call to call, and lines made of frames.

Notes
-----
Ref: in tflite-micro signal/src/{circular_buffer,overlap_add}.cc, and of signal/micro/kernels
framer.cc, stacker.cc and delay.cc.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Framing", "Line", "framed", "overlap_added"]

Shorts = NDArray[np.int16]


@dataclass(frozen=True)
class Framing:
    """Where the frames of a line are.

    Parameters
    ----------
    frames : int
        Frames of each row in a call.
    step : int
        Samples from the beginning of a frame to that of the next one.
    size : int
        Samples of a frame.
    period : int
        Every so many frames one is given, the others are missing.
    copies : int
        How often the first frame of all is repeated in front of itself.
    """

    frames: int
    step: int
    size: int
    period: int = 1
    copies: int = 0


@dataclass(frozen=True, eq=False)
class Line:
    """What is left of a line between calls.

    Parameters
    ----------
    kept : ndarray
        int16 [rows, kept]: the newest samples, the oldest first.
    missing : int
        Frames that are not given before the next one that is.
    is_new : bool
        No sample has come yet.
    """

    kept: Shorts
    missing: int
    is_new: bool


def framed(samples: Shorts, line: Line, how: Framing) -> tuple[Shorts, Line, bool]:
    """Return the frames of lines that go on, what is left then, and whether no frame is missing.

    Frame k begins k steps behind the oldest sample that is kept. The interpreter leaves frames that
    are missing as they were; here they are 0.

    Parameters
    ----------
    samples : ndarray
        int16 [rows, frames * step]: how the lines go on.
    line : Line
        What was left. It holds the size of a frame, less a step, or more.
    how : Framing
        Where the frames are.

    Returns
    -------
    ndarray
        int16 [rows, frames, size].
    Line
        What is left.
    bool
        Whether all frames were given.
    """
    kept = line.kept
    if line.is_new and how.copies:
        kept = kept.copy()
        kept[:, kept.shape[1] - how.copies * how.step :] = np.tile(samples, how.copies)
    whole = np.concatenate([kept, samples], axis=1)
    output = np.zeros((len(samples), how.frames, how.size), np.int16)
    missing, is_valid = line.missing, True
    for number in range(how.frames):
        if missing > 0:
            missing, is_valid = missing - 1, False
            continue
        first = number * how.step
        output[:, number] = whole[:, first : first + how.size]
        missing = how.period - 1
    return output, Line(whole[:, samples.shape[1] :], missing, is_new=False), is_valid


def overlap_added(frames: Shorts, sums: Shorts, step: int) -> tuple[Shorts, Shorts]:
    """Return lines of frames that overlap, and the sums behind them.

    Every sum of a sample of a frame and of what the frames before have there saturates.

    Parameters
    ----------
    frames : ndarray
        int16 [rows, frames, size].
    sums : ndarray
        int16 [rows, size - step]: of earlier frames, at the places of the first frame.
    step : int
        Samples from the beginning of a frame to that of the next one, at most the size.

    Returns
    -------
    line, sums : ndarray
        int16 [rows, frames * step] and [rows, size - step].
    """
    parts = []
    for frame in frames.swapaxes(0, 1).astype(np.int64):
        total = frame.copy()
        total[:, : sums.shape[1]] += sums
        added = total.clip(-(2**15), 2**15 - 1).astype(np.int16)
        parts.append(added[:, :step])
        sums = added[:, step:]
    return np.concatenate(parts, axis=1), sums
