"""Features of words, by the definitions of TensorFlow's signal operators, term by term."""

import math

import numpy as np
import pytest

from kiwicha.sound.spectra import SPECTRA, SpectrumKind, cosines, log_mel, mel_weights, mfcc

RATE = 16_000


def mel(hertz: float) -> float:
    return 1127 * math.log(1 + hertz / 700)


def magnitude(frame: np.ndarray, size: int, number: int) -> float:
    """Give one bin of a discrete Fourier transform."""
    angles = -2 * math.pi * number / size * np.arange(len(frame))
    return abs(complex(np.sum(frame * np.cos(angles)), np.sum(frame * np.sin(angles))))


def band(values: list[float], number: int, bands: int, low: float, high: float) -> float:
    """Give the sum of bins, each weighed by a triangle on the mel scale."""
    width = (mel(high) - mel(low)) / (bands + 1)
    left = mel(low) + number * width
    total = 0.0
    for index, value in enumerate(values[1:], start=1):
        place = mel(index * RATE / 2 / (len(values) - 1))
        weight = min((place - left) / width, (left + 2 * width - place) / width)
        total += max(weight, 0.0) * value
    return total


def sound(seconds: float, seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    time = np.arange(int(RATE * seconds)) / RATE
    tones = 4000 * np.sin(2 * math.pi * 440 * time) + 900 * np.sin(2 * math.pi * 2500 * time)
    return (tones + rng.normal(0, 300, len(time))).astype(np.int16)


@pytest.mark.parametrize("number", [0, 7])
def test_mfcc_is_that_of_the_definition(number: int) -> None:
    samples = sound(1)
    frame = samples[320 * number :][:480] / samples.max()
    window = [0.5 - 0.5 * math.cos(2 * math.pi * k / 480) for k in range(480)]
    bins = [magnitude(frame * window, 512, k) for k in range(257)]
    logs = [math.log(band(bins, k, 40, 20, 4000) + 1e-6) for k in range(40)]
    wanted = [
        math.sqrt(2 / 40)
        * sum(value * math.cos(math.pi / 40 * (k + 0.5) * row) for k, value in enumerate(logs))
        for row in range(10)
    ]
    found = mfcc(samples)
    assert found.shape == (49, 10)
    np.testing.assert_allclose(found[number], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("number", [0, 5])
def test_log_mel_is_that_of_the_definition(number: int) -> None:
    samples = sound(0.3)
    scaled = [value / 32768 for value in samples.tolist()]
    plain = [value - (1 - 2**-5) * (scaled[k - 1] if k else 0) for k, value in enumerate(scaled)]
    frame = np.array(plain[512 * number :][:1024])
    window = [0.54 - 0.46 * math.cos(2 * math.pi * k / 1023) for k in range(1024)]
    bins = [magnitude(frame * window, 1024, k) ** 2 / 1024 for k in range(513)]
    decibels = [10 * math.log10(band(bins, k, 40, 0, 8000)) for k in range(40)]
    wanted = [min(max((value + 52) / 64, 0), 1) for value in decibels]
    found = log_mel(samples)
    assert found.shape == ((4800 - 1024) // 512 + 1, 40)
    np.testing.assert_allclose(found[number], wanted, rtol=1e-9, atol=1e-9)


def test_silence_and_short_sounds_have_features() -> None:
    silence = np.zeros(2048, np.int16)
    assert (log_mel(silence) == 0).all()
    assert np.isfinite(mfcc(silence)).all()
    assert len(log_mel(silence[:1000])) == 0


def test_bands_are_triangles_and_cosines_keep_lengths() -> None:
    weights = mel_weights(40, 257, 20, 4000)
    assert weights.shape == (257, 40)
    assert not weights[0].any()
    assert weights.max() <= 1
    values = np.random.default_rng(1).normal(size=(3, 40))
    values -= values.mean(axis=-1, keepdims=True)
    np.testing.assert_allclose(np.sum(cosines(values) ** 2, -1), np.sum(values**2, -1))


def test_bytes_are_cut_towards_zero() -> None:
    spectrum = SPECTRA[SpectrumKind.LOG_MEL]
    samples = sound(0.5)
    steps = spectrum.make(samples) / 0.01 - 20
    found = spectrum.quantized(samples, 0.01, -20)
    np.testing.assert_allclose(found, np.trunc(steps.clip(-128, 127)), atol=1)
    assert np.mean(found == np.trunc(steps.clip(-128, 127))) > 0.999
    assert spectrum.seconds_of(30) == (1024 + 29 * 512) / RATE
