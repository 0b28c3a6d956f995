"""Features of sound: what each step gives, by exact numbers."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from kiwicha.numerics import sound
from kiwicha.numerics.sound import Smoothing

U32 = 2**32 - 1
SHORTS = (-(2**15), -(2**15) + 1, -100, -1, 0, 1, 7, 2**14, 2**15 - 1)


def test_windows_saturate() -> None:
    samples, weights = np.meshgrid(np.array(SHORTS, np.int16), np.array(SHORTS, np.int16))
    for shift in (0, 12, 15):
        exact = np.floor(samples.astype(float) * weights / 2**shift)
        found = sound.tapered(samples, weights, shift)
        assert found.dtype == np.int16
        np.testing.assert_array_equal(found, np.clip(exact, -(2**15), 2**15 - 1))


@pytest.mark.parametrize("most", [1, 2, 3, 127, 128, 2**13, 2**14 - 1, 2**14, 2**15 - 1])
@pytest.mark.parametrize("sign", [1, -1])
def test_samples_are_shifted_as_far_as_they_can_be(most: int, sign: int) -> None:
    bits = sound.scale_bits(np.array([0, sign, sign * most, -sign], np.int16))
    assert most << bits < 2**15 <= most << (bits + 1)


@pytest.mark.parametrize(
    ("samples", "bits"),
    [
        ([], 0),
        ([0, 0], 0),
        ([-(2**15)], 0),
        ([100, -(2**15), 5], 12),
        ([-(2**15), -7], 0),
        ([-(2**15), 0], 0),
        ([-(2**15), 1, -3], 13),
    ],
)
def test_the_least_sample_has_no_magnitude(samples: list[int], bits: int) -> None:
    assert sound.scale_bits(np.array(samples, np.int16)) == bits


def test_energies() -> None:
    spectrum = np.array([(a, b) for a in SHORTS for b in SHORTS], np.int16)
    for first, end in ((0, len(spectrum)), (3, 70), (5, 5)):
        found = sound.energies(spectrum, first, end)
        expected = [
            re * re + im * im if first <= k < end else 0
            for k, (re, im) in enumerate(spectrum.tolist())
        ]
        assert found.tolist() == expected
        assert found.dtype == np.uint32


def test_channels_share_energies() -> None:
    rng = np.random.default_rng(1)
    energies = rng.integers(2**31, 2**32, 30).astype(np.uint32)
    weights, unweights = rng.integers(0, 2**15, (2, 40)).astype(np.int16)
    channels = np.array([(2, 0, 3), (0, 3, 5), (9, 8, 0), (12, 8, 18), (4, 26, 14)], np.int16)
    found = sound.filtered(energies, weights, unweights, channels)

    def total(row: np.ndarray, factors: np.ndarray) -> int:
        frequency, weight, count = row.tolist()
        pairs = zip(energies[frequency:].tolist(), factors[weight:].tolist(), strict=False)
        return sum(energy * factor for energy, factor in list(pairs)[:count])

    expected = [
        total(row, weights) + total(before, unweights) for before, row in pairwise(channels)
    ]
    assert found.tolist() == expected
    assert found.dtype == np.uint64


def test_sums_of_weights_less_than_zero_wrap_around() -> None:
    energies, one = np.array([5, U32], np.uint32), np.array([-1, -(2**15)], np.int16)
    channels = np.array([(0, 0, 0), (0, 0, 2)], np.int16)
    found = sound.filtered(energies, one, one, channels)
    assert found.tolist() == [2**64 - 5 - 2**15 * U32]


ROOTS = (0, 1, 2, 3, 6, 7, 2**16 - 2, 2**16 - 1, 2**16, 2**31, 2**32 - 1)
NUMBERS = sorted({
    number
    for root in ROOTS
    for square in (root**2, root**2 + root)
    for number in (square - 1, square, square + 1, 2**32 - 1, 2**32, 2**64 - 1)
    if 0 <= number < 2**64
})


@pytest.mark.parametrize("shift", [0, 1, 5, 31, 32, 33])
def test_square_roots_are_the_nearest(shift: int) -> None:
    found = sound.square_roots(np.array(NUMBERS, np.uint64), shift)
    # Twice the root, rounded down, says whether the root is rounded up.
    nearest = [(math.isqrt(4 * number) + 1) // 2 for number in NUMBERS]
    limits = [2**16 - 1 if number < 2**32 else 2**32 - 1 for number in NUMBERS]
    places = shift % 32
    expected = [min(a, b) >> places for a, b in zip(nearest, limits, strict=True)]
    assert found.tolist() == expected


def smoothing(*, is_clamped: bool, bits: int) -> Smoothing:
    return Smoothing(400, 819, 16384 - 300, 16384 - 819, 700, bits, 14, is_clamped)


@pytest.mark.parametrize("is_clamped", [False, True])
@pytest.mark.parametrize("bits", [0, 10])
def test_noise_is_followed_and_taken_off(bits: int, *, is_clamped: bool) -> None:
    rng = np.random.default_rng(2)
    ends = np.array([0, 0, 1, 1, U32, U32, 2**22, 2**22 - 1], np.uint32)
    signal = np.concatenate([ends, rng.integers(0, 2**22, 40), rng.integers(0, 2**32, 20)])
    noise = np.concatenate([ends[::-1], rng.integers(0, 2**32, 60)])
    signal, noise = signal.astype(np.uint32), noise.astype(np.uint32)
    how = smoothing(is_clamped=is_clamped, bits=bits)
    found, estimate = sound.subtracted(signal, noise, how)
    is_odd = np.arange(len(signal)) % 2 == 1
    newest = np.where(is_odd, 819, 400).astype(np.uint64)
    rest = np.where(is_odd, 16384 - 819, 16384 - 300).astype(np.uint64)
    # What C computes: words and long words that wrap around.
    fine = (signal << np.uint32(bits)).astype(np.uint32)
    total = fine.astype(np.uint64) * newest + noise.astype(np.uint64) * rest
    smooth = (total // np.uint64(2**14)).astype(np.uint32)
    taken = np.minimum(smooth, fine)
    floor = (signal.astype(np.uint64) * np.uint64(700) // np.uint64(2**14)).astype(np.uint32)
    np.testing.assert_array_equal(estimate, taken if is_clamped else smooth)
    np.testing.assert_array_equal(found, np.maximum((fine - taken) // np.uint32(2**bits), floor))
    assert {found.dtype, estimate.dtype} == {np.dtype(np.uint32)}


def test_estimates_keep_their_lower_word() -> None:
    value, square = np.array([U32], np.uint32), U32 * U32
    for bits in (1, 40):
        how = Smoothing(U32, U32, U32, U32, U32, 0, bits, is_clamped=False)
        found, estimate = sound.subtracted(value, value, how)
        assert estimate.tolist() == [(2 * square) % 2**64 // 2**bits % 2**32]
        assert found.tolist() == [max(U32 - estimate.tolist()[0], square // 2**bits % 2**32)]


def test_each_signal_has_a_noise() -> None:
    how = smoothing(is_clamped=False, bits=0)
    signal, noise = np.zeros(3, np.uint32), np.zeros(2, np.uint32)
    with pytest.raises(ValueError, match="shorter"):
        sound.subtracted(signal, noise, how)
    with pytest.raises(ValueError, match="shorter"):
        sound.gained(signal, noise, straight_gains(1), 0)


def straight_gains(gain: int) -> np.ndarray:
    """Return a table that gives every noise the same gain."""
    gains = np.zeros(sound.GAIN_ENTRIES, np.int16)
    gains[:3] = gain
    gains[6::4] = gain
    return gains


@pytest.mark.parametrize("noise", [0, 1, 2, 3, 4, 1000, 2**31, U32])
def test_large_signals_are_compressed(noise: int) -> None:
    """Up to twice the noise by a square, from there on by a line."""
    values = np.array([0, 1, 63, 64, 127, 128, 8191, 8192, 8193, 8255, 8256, 10**6], np.uint32)
    for shift in (0, 3):
        signal = values << np.uint32(shift)
        found = sound.gained(signal, np.full(len(signal), noise), straight_gains(1), shift)
        ratios = [Fraction(value, 2**12) for value in values.tolist()]
        expected = [64 * (r * r / 4 if r < 2 else r - 1) for r in ratios]
        assert found.tolist() == [math.floor(value) for value in expected]


def test_small_noises_have_gains_of_their_own() -> None:
    gains = np.zeros(sound.GAIN_ENTRIES, np.int16)
    gains[:3] = (4096, 8192, 16384)
    found = sound.gained(np.full(3, 2), np.arange(3), gains, 0)
    assert found.tolist() == [64, 192, 448]


def interpolated(noise: int, start: int, slope: int, bend: int) -> int:
    """Return the gain of a polynomial, whose argument is what follows the first bit."""
    place = math.floor(Fraction(noise, 2 ** (noise.bit_length() - 1)) * 1024) - 1024
    total = np.array([bend * place // 32 + slope * 32], np.int64) * place
    wrapped = int(total.astype(np.int32)[0])
    return math.floor(Fraction(wrapped, 2**15) + Fraction(1, 2)) + start


@pytest.mark.parametrize(
    "parts", [(1000, 2000, -3000), (50, -7000, 32767), (9, 32767, 32767), (-9, -(2**15), -(2**15))]
)
def test_gains_lie_on_polynomials(parts: tuple[int, int, int]) -> None:
    noises = [3, 4, 5, 7, 8, 1023, 1024, 2047, 4095, 4096, 5000, 123456789, 2**31, U32]
    for noise in noises:
        gains = np.zeros(sound.GAIN_ENTRIES, np.int16)
        # After three entries for 0, 1 and 2 four each for numbers of 2, 3, ... bits, one unused.
        first = 2 + 4 * (noise.bit_length() - 2)
        gains[first : first + 3] = parts
        # A large signal, so that its gain is exact: more than twice the noise, a line.
        gain = interpolated(noise, *parts)
        expected = (gain % 2**16 ^ 2**15) - 2**15
        ratio = (4096 * expected) & U32
        wanted = (ratio >> 6) - 64 if ratio >= 8192 else ratio * ratio >> 20
        found = sound.gained(np.array([4096]), np.array([noise]), gains, 0)
        assert found.tolist() == [wanted]


def test_points_of_logarithms() -> None:
    exact = [2**16 * (math.log2(1 + k / 128) - k / 128) for k in range(129)]
    found = sound.log_points()
    assert (found.shape, found.dtype) == ((129,), np.uint16)
    np.testing.assert_array_equal(found, [math.floor(x + 0.5) for x in exact])


def logarithm(x: int, scale: int) -> int:
    """Return a natural logarithm times a scale, with the roundings of fixed point."""
    if x <= 1:
        return 0
    whole = x.bit_length() - 1
    fraction = math.floor(Fraction(x, 2**whole) * 2**16) - 2**16
    points = [math.floor(2**16 * (math.log2(1 + k / 128) - k / 128) + 0.5) for k in range(129)]
    segment, place = fraction // 512, fraction % 512
    # TFLM divides what is between two points by the whole range, not by that of a segment.
    between = math.floor(Fraction((points[segment + 1] - points[segment]) * place, 2**16))
    binary = whole * 2**16 + fraction + points[segment] + between
    natural = math.floor(Fraction(binary * 45426, 2**16) + Fraction(1, 2))
    word = (scale * natural + 2**15) % 2**32
    return min(word // 2**16, 2**15 - 1)


NATURAL = (0, 1, 2, 3, 4, 5, 127, 128, 129, 1000, 65535, 65536, 99999, 2**31 - 1, 2**31, U32)


@pytest.mark.parametrize("shift", [0, 3, 6])
@pytest.mark.parametrize("scale", [1, 64, 1600, 65535])
def test_logarithms(shift: int, scale: int) -> None:
    found = sound.logarithms(np.array(NATURAL, np.uint32), scale, shift)
    words = [(number << shift) % 2**32 for number in NATURAL]
    assert found.tolist() == [logarithm(word, scale) for word in words]
    if scale <= 1600:
        # Between points it is as far from the real one as they differ: 1/400.
        exact = np.array([scale * math.log(max(word, 1)) for word in words])
        assert np.abs(found - exact.clip(max=2**15 - 1)).max() <= 1 + scale / 400
