"""Features of sound as the models of words of MLPerf Tiny take them, in numpy.

They are computed in floating point, by the definitions of TensorFlow's signal operators; so they
are the host's part of a run, not the hardware's.

Notes
-----
Ref: mlcommons/tiny, benchmark/training/keyword_spotting/get_dataset.py (mfcc) and
streaming_wakeword/get_dataset.py (lfbe), with the defaults beside them; tf.signal: stft,
linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms.
"""

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.sound import RATE_HZ

__all__ = ["SPECTRA", "Spectrum", "SpectrumKind", "cosines", "log_mel", "mel_weights", "mfcc"]

Reals = NDArray[np.float64]
Samples = NDArray[np.int16]


class SpectrumKind(enum.StrEnum):
    """What features are."""

    MFCC = "mfcc"
    """Mel-frequency cepstral coefficients of a second."""
    LOG_MEL = "log_mel"
    """Logarithms of the energies of bands."""


@dataclass(frozen=True)
class Spectrum:
    """How features are made.

    Parameters
    ----------
    window_samples, step_samples : int
        Length of a frame, and from one frame to the next.
    features : int
        Of a frame.
    make : callable
        From samples to features [frames, features].
    """

    window_samples: int
    step_samples: int
    features: int
    make: Callable[[Samples], Reals]

    def seconds_of(self, frames: int) -> float:
        """Return how long sound of a number of frames is."""
        return (self.window_samples + (frames - 1) * self.step_samples) / RATE_HZ

    def quantized(self, samples: Samples, scale: float, zero_point: int) -> NDArray[np.int8]:
        """Return features as int8, cut towards zero as the benchmarks' own scripts do.

        Parameters
        ----------
        samples : int16 array
            `RATE_HZ` a second.
        scale, zero_point : float and int
            Of the model's input.
        """
        steps = np.trunc(self.make(samples).astype(np.float32) / np.float32(scale) + zero_point)
        values: NDArray[np.int8] = steps.clip(-128, 127).astype(np.int8)
        return values


def mel_weights(bands: int, bins: int, lowest_hz: float, highest_hz: float) -> Reals:
    """Return the share of each bin of a spectrum in each band, [bins, bands].

    Bands are triangles that lie equally on the mel scale, each from the middle of the one before
    to that of the one behind; the bin of 0 Hz counts nowhere.
    """

    def mel(hertz: Reals) -> Reals:
        mels: Reals = 1127.0 * np.log1p(hertz / 700.0)
        return mels

    places = mel(np.linspace(0.0, RATE_HZ / 2, bins)[1:])[:, None]
    first, last = mel(np.array([lowest_hz, highest_hz]))
    edges = np.linspace(first, last, bands + 2)
    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (places - left) / (middle - left), (right - places) / (right - middle)
    return np.vstack([np.zeros(bands), np.maximum(0.0, np.minimum(rising, falling))])


def cosines(values: Reals) -> Reals:
    """Return the cosine transform (DCT-II) of the last dimension, by ``sqrt(2 / size)``."""
    size = values.shape[-1]
    angles = math.pi / size * np.outer(np.arange(size) + 0.5, np.arange(size))
    transformed: Reals = math.sqrt(2 / size) * values @ np.cos(angles)
    return transformed


def _spectra(samples: Reals, window: Reals, step: int) -> Reals:
    """Return magnitudes of frames, transformed at the next power of two, [frames, bins]."""
    if len(samples) < len(window):
        frames = np.zeros((0, len(window)))
    else:
        frames = np.lib.stride_tricks.sliding_window_view(samples, len(window))[::step]
    return np.abs(np.fft.rfft(frames * window, 1 << (len(window) - 1).bit_length()))


_MFCC_WINDOW, _MFCC_STEP, _MFCC_FEATURES, _MFCC_BANDS = 480, 320, 10, 40
_MEL_WINDOW, _MEL_STEP, _MEL_BANDS = 1024, 512, 40
_EMPHASIS = 1 - 2**-5
_LEAST_POWER = 1e-30
_OFFSET_DB, _RANGE_DB = 52.0, 64.0


def mfcc(samples: Samples) -> Reals:
    """Return ten coefficients of frames of 30 ms, 20 ms apart, of one second: [49, 10].

    The second is filled with silence, and as loud as its largest sample is.
    """
    second = np.zeros(RATE_HZ)
    used = samples[:RATE_HZ].astype(np.float64)
    loudest = used.max(initial=0.0)
    second[: len(used)] = used / loudest if loudest > 0 else used
    window = 0.5 - 0.5 * np.cos(2 * math.pi * np.arange(_MFCC_WINDOW) / _MFCC_WINDOW)
    magnitudes = _spectra(second, window, _MFCC_STEP)
    bands = magnitudes @ mel_weights(_MFCC_BANDS, magnitudes.shape[1], 20.0, 4000.0)
    return cosines(np.log(bands + 1e-6))[:, :_MFCC_FEATURES]


def log_mel(samples: Samples) -> Reals:
    """Return 40 logarithms of frames of 64 ms, 32 ms apart: [frames, 40], 0 to 1."""
    sound = samples / 2.0**15
    emphasized = sound - _EMPHASIS * np.concatenate([[0.0], sound[:-1]])
    window = 0.54 - 0.46 * np.cos(2 * math.pi * np.arange(_MEL_WINDOW) / (_MEL_WINDOW - 1))
    magnitudes = _spectra(emphasized, window, _MEL_STEP)
    powers = np.maximum(magnitudes**2 / _MEL_WINDOW, _LEAST_POWER)
    bands = powers @ mel_weights(_MEL_BANDS, powers.shape[1], 0.0, RATE_HZ / 2)
    with np.errstate(divide="ignore"):
        decibels = 10 * np.log10(bands)
    return ((decibels + _OFFSET_DB) / _RANGE_DB).clip(0, 1)


SPECTRA = {
    SpectrumKind.MFCC: Spectrum(_MFCC_WINDOW, _MFCC_STEP, _MFCC_FEATURES, mfcc),
    SpectrumKind.LOG_MEL: Spectrum(_MEL_WINDOW, _MEL_STEP, _MEL_BANDS, log_mel),
}
"""Those that are known."""
