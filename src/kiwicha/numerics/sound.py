"""From a spectrum to features of sound, in integers: what a frontend for speech computes.

Notes
-----
Ref: signal/src in tflite-micro: window.cc, fft_auto_scale.cc, max_abs.cc, energy.cc,
filter_bank.cc, square_root_32.cc, square_root_64.cc, filter_bank_spectral_subtraction.cc,
pcan_argc_fixed.cc, filter_bank_log.cc, log.cc. Those of lib/ in
tensorflow/lite/experimental/microfrontend compute the same.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "GAIN_ENTRIES",
    "Smoothing",
    "energies",
    "filtered",
    "gained",
    "log_points",
    "logarithms",
    "scale_bits",
    "square_roots",
    "subtracted",
    "tapered",
]

Words = NDArray[np.uint32]
Longs = NDArray[np.uint64]

GAIN_ENTRIES = 125
"""Of a table of gains: three for numbers up to 2, then four for each number of bits."""
_WORD = 0xFFFFFFFF
_LOG_SEGMENTS = 128
_LOG_BITS = 16
"""Behind the point of logarithms."""
_LN_2 = round(math.log(2) * 2**_LOG_BITS)
_RATIO_BITS = 12
"""Behind the point of a signal over its noise."""
_GAINED_BITS = 6
"""Behind the point of what `gained` gives."""


@dataclass(frozen=True)
class Smoothing:
    """How noise is followed, and taken off.

    Parameters
    ----------
    even, odd : int
        Weight of the newest signal in channels of even and odd numbers.
    even_rest, odd_rest : int
        Weight of the noise so far.
    least : int
        Part of a signal that always stays.
    bits : int
        By which noise is finer than signals.
    fraction_bits : int
        Behind the point of all weights.
    is_clamped : bool
        Noise never is more than the signal.
    """

    even: int
    odd: int
    even_rest: int
    odd_rest: int
    least: int
    bits: int
    fraction_bits: int
    is_clamped: bool


def tapered(
    samples: NDArray[np.int16], weights: NDArray[np.int16], shift: int
) -> NDArray[np.int16]:
    """Return samples, int16 [rows, n], times weights, int16 [n], over a power of two."""
    products = samples.astype(np.int64) * weights >> shift
    return products.clip(-(2**15), 2**15 - 1).astype(np.int16)


def scale_bits(samples: NDArray[np.int16]) -> int:
    """Return by how many bits samples can be shifted up.

    None if all are zero. The magnitude of -32768 needs a bit more than there is: then what is
    before it does not count, and what is behind it may be found too small.
    """
    most = 0
    for sample in samples.tolist():
        if sample > most:
            most = sample
        elif -sample > most:
            most = (-sample + 2**15) % 2**16 - 2**15
    return max(15 - most.bit_length(), 0) if most > 0 else 0


def energies(spectrum: NDArray[np.int16], first: int, end: int) -> Words:
    """Return the squared magnitudes of a spectrum, int16 [n, 2]; 0 elsewhere."""
    squares = (spectrum.astype(np.int64) ** 2).sum(axis=1)
    places = np.arange(len(spectrum))
    return np.where((places >= first) & (places < end), squares, 0).astype(np.uint32)


def filtered(
    energies: Words,
    weights: NDArray[np.int16],
    unweights: NDArray[np.int16],
    channels: NDArray[np.int16],
) -> Longs:
    """Return the energy in each channel, uint64 [channels].

    Parameters
    ----------
    energies : uint32 [n]
        By frequency.
    weights, unweights : int16 [m]
        What of an energy goes to a channel and to the one behind it: 0 or more.
    channels : int16 [channels + 1, 3]
        First frequency, first weight, and their number. What the first row's weights give is lost.
    """
    found, rest = [], 0
    for frequency, weight, count in channels.astype(int).tolist():
        parts = energies[frequency : frequency + count].astype(object)
        found.append(rest + int((parts * weights[weight : weight + count]).sum()))
        rest = int((parts * unweights[weight : weight + count]).sum())
    return np.array([value % 2**64 for value in found[1:]], np.uint64)


def square_roots(numbers: Longs, shift: int) -> Words:
    """Return rounded square roots, over a power of two; the shift counts modulo 32."""
    found = []
    for number in numbers.tolist():
        root = math.isqrt(number)
        most = 0xFFFF if number <= _WORD else _WORD
        found.append((root + (number - root * root > root and root != most)) >> shift % 32)
    return np.array(found, np.uint32)


def subtracted(signal: Words, noise: Words, how: Smoothing) -> tuple[Words, Words]:
    """Return a signal without its noise, and the noise with what the signal adds to it.

    Parameters
    ----------
    signal : uint32 [channels]
        Of one frame.
    noise : uint32 [channels]
        Estimate so far, finer by ``how.bits``.
    how : Smoothing
        Weights.
    """
    signals, noises = [], []
    for channel, (value, before) in enumerate(zip(signal.tolist(), noise.tolist(), strict=True)):
        newest, rest = (how.odd, how.odd_rest) if channel % 2 else (how.even, how.even_rest)
        fine = value << how.bits & _WORD
        total = (fine * newest + before * rest) % 2**64
        estimate = total >> how.fraction_bits & _WORD
        least = (value * how.least) % 2**64 >> how.fraction_bits & _WORD
        signals.append(max(fine - min(estimate, fine) >> how.bits, least))
        noises.append(min(estimate, fine) if how.is_clamped else estimate)
    return np.array(signals, np.uint32), np.array(noises, np.uint32)


def gained(signal: Words, noise: Words, gains: NDArray[np.int16], shift: int) -> Words:
    """Return a signal with the gain that its noise allows, large ones compressed.

    Parameters
    ----------
    signal, noise : uint32 [channels]
        Of one frame.
    gains : int16 [GAIN_ENTRIES]
        A polynomial for each number of bits that the noise has.
    shift : int
        Bits of a product that are dropped.
    """
    found = []
    for value, estimate in zip(signal.tolist(), noise.tolist(), strict=True):
        gain = _gain(estimate, [int(x) for x in gains]) & _WORD
        ratio = value * gain >> shift & _WORD
        if ratio < 2 << _RATIO_BITS:
            found.append(ratio * ratio >> (2 + 2 * _RATIO_BITS - _GAINED_BITS))
        else:
            found.append((ratio >> (_RATIO_BITS - _GAINED_BITS)) - (1 << _GAINED_BITS))
    return np.array(found, np.uint32)


def _gain(noise: int, gains: list[int]) -> int:
    """Return the gain for a noise, as int16."""
    if noise <= 2:
        return gains[noise]
    bits = noise.bit_length()
    start, slope, bend = gains[4 * bits - 6 : 4 * bits - 3]
    place = (noise << 11 >> bits) & 0x3FF
    # It never needs more than 32 bits.
    total = ((bend * place >> 5) + (slope << 5)) * place
    return (((total + (1 << 14)) >> 15) + start + 2**15) % 2**16 - 2**15


def log_points() -> NDArray[np.uint16]:
    """Return how much more than a line a logarithm to base 2 is, uint16 [129], in Q0.16."""
    places = np.arange(_LOG_SEGMENTS + 1) / _LOG_SEGMENTS
    bends = np.log2(1 + places) - places
    found: NDArray[np.uint16] = np.floor(bends * 2**_LOG_BITS + 0.5).astype(np.uint16)
    return found


def logarithms(numbers: Words, scale: int, shift: int) -> NDArray[np.int16]:
    """Return natural logarithms times a scale, of numbers that are shifted up first.

    Parameters
    ----------
    numbers : uint32 [n]
        0 and 1 give 0.
    scale : int
        Of the result.
    shift : int
        Bits by which numbers are shifted, modulo 2**32.
    """
    points = [int(point) for point in log_points()]
    half = 1 << (_LOG_BITS - 1)
    found = []
    for number in numbers.tolist():
        x = number << shift & _WORD
        if x <= 1:
            found.append(0)
            continue
        whole = x.bit_length() - 1
        fraction = (x << _LOG_BITS >> whole) - (1 << _LOG_BITS)
        segment, place = divmod(fraction, (1 << _LOG_BITS) // _LOG_SEGMENTS)
        bend = (points[segment + 1] - points[segment]) * place >> _LOG_BITS
        binary = (whole << _LOG_BITS) + fraction + points[segment] + bend
        natural = _LN_2 * binary + half >> _LOG_BITS
        found.append(min((scale * natural + half & _WORD) >> _LOG_BITS, 2**15 - 1))
    return np.array(found, np.int16)
