"""Fourier transforms of int16 samples, with every step rounded to int16.

A transform of a power of two is stages of radix 4, behind one of radix 2 where the power is odd.
Each stage divides by its radix first, so that no sum needs more than 16 bits.

Notes
-----
Ref: kiss_fft.c and tools/kiss_fftr.c of KISS FFT 1.3.0 with FIXED_POINT=16, which TensorFlow Lite
Micro takes.
"""

import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.signal import root_of_one, transform_roots

__all__ = [
    "inverse_real_transform",
    "positions",
    "real_transform",
    "stages",
    "super_twiddles",
    "twiddles",
]

Ints = NDArray[np.int64]
Pair = tuple[Ints, Ints]
"""Real and imaginary parts."""

_FRACTION_BITS = 15
_ONE = 2**_FRACTION_BITS - 1
"""What stands for 1."""


def stages(size: int) -> tuple[int, ...]:
    """Return the radices of a transform of ``size`` numbers, a power of two; the last comes first.

    The first one combines the whole transform from transforms of a part of the numbers.
    """
    bits = size.bit_length() - 1
    return (4,) * (bits // 2) + (2,) * (bits % 2)


def positions(size: int) -> Ints:
    """Return, int64 [size], where each number of a transform lies before its first stage."""
    order = np.arange(size, dtype=np.int64)
    for depth, radix in enumerate(stages(size)):
        done = math.prod(stages(size)[:depth])
        order = np.concatenate([
            part[k::radix] for part in np.split(order, done) for k in range(radix)
        ])
    return np.argsort(order)


def twiddles(size: int, *, is_inverse: bool = False) -> Ints:
    """Return the roots of one, int64 [size, 2], that stages multiply by."""
    return np.array(transform_roots(size, is_inverse=is_inverse), np.int64)


def super_twiddles(size: int, *, is_inverse: bool = False) -> Ints:
    """Return the roots, int64 [size / 2, 2], by which two halves of real numbers are one.

    Parameters
    ----------
    size : int
        Of the complex transform, half the real one.
    is_inverse : bool
        Real numbers come out of it.
    """
    sign = 1 if is_inverse else -1
    phases = [sign * math.pi * ((k + 1) / size + 0.5) for k in range(size // 2)]
    return np.array([root_of_one(phase) for phase in phases], np.int64).reshape(-1, 2)


def real_transform(samples: NDArray[np.int16], size: int) -> NDArray[np.int16]:
    """Return spectra, int16 [rows, size / 2 + 1, 2], divided by ``size``.

    Parameters
    ----------
    samples : int16 [rows, n]
        At most ``size``; zeros follow.
    size : int
        A power of two, 4 or more.
    """
    half = size // 2
    padded = np.zeros((len(samples), size), np.int64)
    padded[:, : samples.shape[1]] = samples
    re, im = _transform((padded[:, ::2], padded[:, 1::2]), twiddles(half), is_inverse=False)
    output = np.zeros((len(samples), half + 1, 2), np.int64)
    first = _divided((re[:, 0], im[:, 0]), 2)
    output[:, 0, 0] = first[0] + first[1]
    output[:, half, 0] = first[0] - first[1]
    k = np.arange(1, half // 2 + 1)
    near = _divided((re[:, k], im[:, k]), 2)
    far = _divided((re[:, half - k], _short(-im[:, half - k])), 2)
    even, odd = _sum(near, far), _difference(near, far)
    turned = _product(odd, super_twiddles(half)[k - 1])
    # Of the middle, which is written twice, the second one counts.
    output[:, k, 0] = (even[0] + turned[0]) >> 1
    output[:, k, 1] = (even[1] + turned[1]) >> 1
    output[:, half - k, 0] = (even[0] - turned[0]) >> 1
    output[:, half - k, 1] = (turned[1] - even[1]) >> 1
    return _short(output).astype(np.int16)


def inverse_real_transform(spectra: NDArray[np.int16], size: int) -> NDArray[np.int16]:
    """Return samples, int16 [rows, size], divided by ``size``.

    Parameters
    ----------
    spectra : int16 [rows, size / 2 + 1, 2]
        Real and imaginary parts.
    size : int
        A power of two, 4 or more.
    """
    half = size // 2
    re, im = spectra[..., 0].astype(np.int64), spectra[..., 1].astype(np.int64)
    work_re, work_im = np.zeros((2, len(spectra), half), np.int64)
    first = _short(re[:, 0] + re[:, half]), _short(re[:, 0] - re[:, half])
    work_re[:, 0], work_im[:, 0] = _divided(first, 2)
    k = np.arange(1, half // 2 + 1)
    near = _divided((re[:, k], im[:, k]), 2)
    far = _divided((re[:, half - k], _short(-im[:, half - k])), 2)
    even, odd = _sum(near, far), _difference(near, far)
    turned = _product(odd, super_twiddles(half, is_inverse=True)[k - 1])
    work_re[:, k], work_im[:, k] = _sum(even, turned)
    other = _difference(even, turned)
    work_re[:, half - k], work_im[:, half - k] = other[0], _short(-other[1])
    roots = twiddles(half, is_inverse=True)
    found = _transform((work_re, work_im), roots, is_inverse=True)
    return np.stack(found, axis=-1).reshape(len(spectra), size).astype(np.int16)


def _transform(numbers: Pair, roots: Ints, *, is_inverse: bool) -> Pair:
    """Return the transform of numbers along the last dimension."""
    size = len(roots)
    order = np.argsort(positions(size))
    re, im = numbers[0][:, order], numbers[1][:, order]
    length = 1
    for radix in reversed(stages(size)):
        shape = (len(re), size // (radix * length), radix, length)
        parts = [
            _divided((re.reshape(shape)[:, :, q], im.reshape(shape)[:, :, q]), radix)
            for q in range(radix)
        ]
        stride = size // (radix * length)
        places = np.arange(length) * stride
        turned = [parts[0]] + [_product(parts[q], roots[q * places]) for q in range(1, radix)]
        done = _butterfly(turned, is_inverse=is_inverse)
        re = np.stack([part[0] for part in done], axis=2).reshape(len(re), size)
        im = np.stack([part[1] for part in done], axis=2).reshape(len(im), size)
        length *= radix
    return re, im


def _butterfly(parts: list[Pair], *, is_inverse: bool) -> list[Pair]:
    """Return the transform of two or four numbers."""
    if len(parts) == 2:
        return [_sum(*parts), _difference(*parts)]
    a, b, c, d = parts
    even, odd = _sum(a, c), _difference(a, c)
    outer, inner = _sum(b, d), _difference(b, d)
    quarter = (-inner[1], inner[0]) if is_inverse else (inner[1], -inner[0])
    return [
        _sum(even, outer),
        _sum(odd, quarter),
        _difference(even, outer),
        _difference(odd, quarter),
    ]


def _short(x: Ints) -> Ints:
    """Return the low 16 bits, signed."""
    low: Ints = ((x + 2**15) & 0xFFFF) - 2**15
    return low


def _rounded(x: Ints) -> Ints:
    return _short((x + (1 << (_FRACTION_BITS - 1))) >> _FRACTION_BITS)


def _divided(x: Pair, divisor: int) -> Pair:
    factor = _ONE // divisor
    return _rounded(x[0] * factor), _rounded(x[1] * factor)


def _sum(a: Pair, b: Pair) -> Pair:
    return _short(a[0] + b[0]), _short(a[1] + b[1])


def _difference(a: Pair, b: Pair) -> Pair:
    return _short(a[0] - b[0]), _short(a[1] - b[1])


def _product(a: Pair, roots: Ints) -> Pair:
    re, im = roots[:, 0], roots[:, 1]
    return _rounded(a[0] * re - a[1] * im), _rounded(a[0] * im + a[1] * re)
