"""Fourier transforms of int16: one number after the other, as KISS FFT defines them."""

import math

import numpy as np
import pytest

from kiwicha.numerics import fourier

Complex = tuple[int, int]
SIZES = (4, 8, 16, 32, 64)


def short(x: int) -> int:
    return int(np.array(x & 0xFFFF, np.uint16).view(np.int16))


def rounded(x: int) -> int:
    """Return a product of two numbers of which 32,767 is 1, as int16."""
    return short(math.floor(x / 2**15 + 0.5))


def divided(x: Complex, divisor: int) -> Complex:
    return rounded(x[0] * (32767 // divisor)), rounded(x[1] * (32767 // divisor))


def product(a: Complex, b: Complex) -> Complex:
    return rounded(a[0] * b[0] - a[1] * b[1]), rounded(a[0] * b[1] + a[1] * b[0])


def root(phase: float) -> Complex:
    return math.floor(0.5 + 32767 * math.cos(phase)), math.floor(0.5 + 32767 * math.sin(phase))


def turned(a: Complex, quarters: int) -> Complex:
    """Return a number times a power of i."""
    return [a, (-a[1], a[0]), (-a[0], -a[1]), (a[1], -a[0])][quarters % 4]


def transform(x: list[Complex], sign: int, whole: int) -> list[Complex]:
    """Return a transform, which transforms of every second or fourth number make up."""
    size = len(x)
    if size == 1:
        return x
    radix = 2 if size % 4 else 4
    parts = [transform(x[q::radix], sign, whole) for q in range(radix)]
    found = []
    for r in range(radix):
        for k in range(size // radix):
            sums = [0, 0]
            for q, part in enumerate(parts):
                phase = sign * 2 * math.pi * (q * k * whole // size) / whole
                term = divided(part[k], radix)
                term = product(term, root(phase)) if q else term
                term = turned(term, sign * q * r * 4 // radix)
                sums = [sums[0] + term[0], sums[1] + term[1]]
            found.append((short(sums[0]), short(sums[1])))
    return found


def spectrum(samples: list[int]) -> list[Complex]:
    """Return the transform of real numbers, from one of half as many complex ones."""
    half = len(samples) // 2
    x = transform(list(zip(samples[::2], samples[1::2], strict=True)), -1, half)
    first = divided(x[0], 2)
    found = [(0, 0)] * (half + 1)
    found[0], found[half] = (short(sum(first)), 0), (short(first[0] - first[1]), 0)
    for k in range(1, half // 2 + 1):
        near, far = divided(x[k], 2), divided((x[half - k][0], short(-x[half - k][1])), 2)
        even = short(near[0] + far[0]), short(near[1] + far[1])
        odd = short(near[0] - far[0]), short(near[1] - far[1])
        re, im = product(odd, root(-math.pi * (k / half + 0.5)))
        found[k] = short((even[0] + re) // 2), short((even[1] + im) // 2)
        found[half - k] = short((even[0] - re) // 2), short((im - even[1]) // 2)
    return found


def samples_of(spectrum: list[Complex]) -> list[int]:
    """Return the real numbers of a spectrum."""
    half = len(spectrum) - 1
    first, last = spectrum[0][0], spectrum[half][0]
    x = [(0, 0)] * half
    x[0] = divided((short(first + last), short(first - last)), 2)
    for k in range(1, half // 2 + 1):
        other = spectrum[half - k]
        near, far = divided(spectrum[k], 2), divided((other[0], short(-other[1])), 2)
        even = short(near[0] + far[0]), short(near[1] + far[1])
        odd = short(near[0] - far[0]), short(near[1] - far[1])
        re, im = product(odd, root(math.pi * (k / half + 0.5)))
        x[k] = short(even[0] + re), short(even[1] + im)
        x[half - k] = short(even[0] - re), short(im - even[1])
    return [part for number in transform(x, 1, half) for part in number]


def noise(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Return int16, the last row of which has the ends of the range alone."""
    rng = np.random.default_rng(seed)
    found = rng.integers(-(2**15), 2**15, shape)
    found[-1] = rng.choice([-(2**15), 2**15 - 1], shape[1:])
    return found.astype(np.int16)


@pytest.mark.parametrize("size", SIZES)
def test_spectra(size: int) -> None:
    samples = noise((3, size), size)
    expected = [spectrum(row) for row in samples.tolist()]
    np.testing.assert_array_equal(fourier.real_transform(samples, size), expected)


@pytest.mark.parametrize("size", SIZES)
def test_inverse_transforms(size: int) -> None:
    spectra = noise((3, size // 2 + 1, 2), size)
    expected = [samples_of([(re, im) for re, im in row]) for row in spectra.tolist()]
    np.testing.assert_array_equal(fourier.inverse_real_transform(spectra, size), expected)


@pytest.mark.parametrize("size", SIZES)
def test_spectra_are_near_the_real_ones(size: int) -> None:
    samples = noise((3, size), 1) // 2
    exact = np.fft.rfft(samples.astype(float)) / size
    found = fourier.real_transform(samples, size).astype(float)
    # Each stage rounds, and takes 32,767 for 1.
    assert np.abs(found[..., 0] + 1j * found[..., 1] - exact).max() < 5
    spectra = np.stack([exact.real, exact.imag], axis=-1).round().astype(np.int16)
    again = fourier.inverse_real_transform(spectra, size)
    assert np.abs(again - samples / size).max() < 5


def test_zeros_follow_short_lines() -> None:
    samples = noise((2, 9), 5)
    padded = np.pad(samples, ((0, 0), (0, 7)))
    np.testing.assert_array_equal(
        fourier.real_transform(samples, 16), fourier.real_transform(padded, 16)
    )


@pytest.mark.parametrize(
    ("size", "radices"), [(2, (2,)), (4, (4,)), (8, (4, 2)), (64, (4, 4, 4)), (128, (4, 4, 4, 2))]
)
def test_stages(size: int, radices: tuple[int, ...]) -> None:
    assert fourier.stages(size) == radices


@pytest.mark.parametrize("size", [2, 4, 8, 32])
def test_numbers_lie_by_their_parts(size: int) -> None:
    def order(numbers: list[int]) -> list[int]:
        if len(numbers) == 1:
            return numbers
        radix = 2 if len(numbers) % 4 else 4
        return [number for q in range(radix) for number in order(numbers[q::radix])]

    positions = fourier.positions(size)
    assert positions[order(list(range(size)))].tolist() == list(range(size))


@pytest.mark.parametrize("is_inverse", [False, True])
def test_roots(*, is_inverse: bool) -> None:
    sign = 1 if is_inverse else -1
    found = fourier.twiddles(16, is_inverse=is_inverse)
    assert found.tolist() == [list(root(sign * 2 * math.pi * k / 16)) for k in range(16)]
    found = fourier.super_twiddles(16, is_inverse=is_inverse)
    turns = [sign * ((k + 1) / 32 + 0.25) for k in range(8)]
    assert np.abs(found - [root(2 * math.pi * turn) for turn in turns]).max() <= 1
