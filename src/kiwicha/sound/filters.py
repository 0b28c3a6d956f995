"""Constants of a frontend for speech: weights of a frame, bands of frequencies, and gains.

Notes
-----
Ref: lib/{window_util,filterbank_util,pcan_gain_control_util}.c in
tensorflow/lite/experimental/microfrontend. Those round weights of frequencies to the nearest; here
they are rounded down, as in audio_preprocessor_int8.tflite of tflite-micro.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["WEIGHT_BITS", "Bands", "bands", "frame_weights", "gains"]

Shorts = NDArray[np.int16]

WEIGHT_BITS = 12
"""Behind the point of weights of samples and frequencies."""
_ALIGNMENT = 2
"""Bands begin at such a frequency."""
_BLOCK = 4
"""Weights of a band are a multiple of it."""
_LARGEST_GAIN = 2**15 - 1
_MEL_HZ, _MELS = 700, 1127
_Single = np.float32


@dataclass(frozen=True, eq=False)
class Bands:
    """Which frequencies add up to which channels.

    Parameters
    ----------
    weights, unweights : int16 [n]
        What of a frequency belongs to a band's channel, and to the next one.
    frequency_starts, weight_starts, widths : int16 [channels + 1]
        Of each band: its first frequency and weight, and how many it has.
    first, end : int
        Frequencies that count.
    """

    weights: Shorts
    unweights: Shorts
    frequency_starts: Shorts
    weight_starts: Shorts
    widths: Shorts
    first: int
    end: int


def frame_weights(size: int) -> Shorts:
    """Return the weights of the samples of a frame, of Hann."""
    places = (np.arange(size) + 0.5) / size
    real = 0.5 - 0.5 * np.cos(2 * math.pi * places)
    found: Shorts = np.floor(real * 2**WEIGHT_BITS + 0.5).astype(np.int16)
    return found


def bands(channels: int, lowest_hz: float, highest_hz: float, rate_hz: int, size: int) -> Bands:
    """Return bands that are equally wide to the ear, each half over its neighbours.

    Parameters
    ----------
    channels : int
        Number of results.
    lowest_hz, highest_hz : float
        What is heard.
    rate_hz : int
        Samples per second.
    size : int
        Frequencies of the spectrum.
    """
    low, high = _mel(lowest_hz), _mel(highest_hz)
    spacing = (high - low) / _Single(channels + 1)
    centres = [low + spacing * _Single(k + 1) for k in range(channels + 1)]
    step_hz = _Single(0.5) * _Single(rate_hz) / _Single(size - 1)
    first = start = int(_Single(1.5) + _Single(lowest_hz) / step_hz)
    weights: list[int] = []
    unweights: list[int] = []
    rows = []
    before = low
    for centre in centres:
        end = start
        while _mel(end * step_hz) <= centre:
            end += 1
        aligned = start // _ALIGNMENT * _ALIGNMENT
        width = -(-(end - aligned) // _BLOCK) * _BLOCK
        rows.append((aligned, len(weights), width))
        for frequency in range(aligned, aligned + width):
            part = (centre - _mel(frequency * step_hz)) / (centre - before)
            is_inside = start <= frequency < end
            weights.append(_fixed(part) if is_inside else 0)
            unweights.append(_fixed(_Single(1) - part) if is_inside else 0)
        start, before = end, centre
    starts, first_weights, widths = (
        np.array(column, np.int16) for column in zip(*rows, strict=True)
    )
    return Bands(
        weights=np.array(weights, np.int16),
        unweights=np.array(unweights, np.int16),
        frequency_starts=starts,
        weight_starts=first_weights,
        widths=widths,
        first=first,
        end=start,
    )


def gains(strength: float, offset: float, gain_bits: int, input_bits: int) -> Shorts:
    """Return the table of `kiwicha.numerics.sound.gained`: (noise + offset) ** -strength.

    Parameters
    ----------
    strength, offset : float
        See above.
    gain_bits, input_bits : int
        Behind the point of gains and of the noise.
    """
    found = [_gain_at(x, strength, offset, gain_bits, input_bits) for x in (0, 1)]
    for bits in range(2, 33):
        start = 2 ** (bits - 1)
        end = 2 * start if bits < 32 else 2 * start - 1
        ends = (start, start + start // 2, end)
        y_0, y_1, y_2 = (_gain_at(x, strength, offset, gain_bits, input_bits) for x in ends)
        slope = 4 * (y_1 - y_0) - (y_2 - y_0)
        found += [y_0, slope, y_2 - y_0 - slope, 0]
    return np.array(found[:-1], np.int16)


def _gain_at(x: int, strength: float, offset: float, gain_bits: int, input_bits: int) -> int:
    noise = _Single(x) / _Single(2**input_bits)
    gain = _Single(2**gain_bits) * np.power(noise + _Single(offset), -_Single(strength))
    return _LARGEST_GAIN if gain > _LARGEST_GAIN else int(gain + _Single(0.5))


def _mel(frequency_hz: float | np.float32) -> np.float32:
    return _Single(_Single(_MELS) * np.log1p(_Single(frequency_hz) / _Single(_MEL_HZ)))


def _fixed(part: np.float32) -> int:
    return math.floor(part * _Single(2**WEIGHT_BITS))
