"""Tables by which a sum of two bytes needs no multiplication: what is added behind a convolution.

A sum of two tensors is a function of two bytes: each adds its term, and the total is requantized.
Here terms are in units of the output, with `FUSED_FRACTION_BITS`, so that of their sum only the
integer part is left, saturated. They are chosen such that every pair of bytes gives what the
requantizer makes of it, with both of its roundings: each output is an interval for a sum of two
terms.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import FUSED_BITS, FUSED_FRACTION_BITS

__all__ = ["fused_tables"]

_STRETCHES = (1.0, 1 + 2.0**-9)
"""Scales that are tried. A larger one rounds halves away from zero."""
_ROUNDS = 60
"""Times that both tables are improved, at most."""
_ONE = 1 << FUSED_FRACTION_BITS
_LIMIT = 1 << (FUSED_BITS - 1)

Ints = NDArray[np.int64]


def fused_tables(
    results: Ints, terms: Ints, scale: float, offset: float, is_given: NDArray[np.bool_]
) -> NDArray[np.int32] | None:
    """Return the tables of both bytes, int32 [256, 2]; None if none were found.

    Parameters
    ----------
    results : int64 [256, 256]
        The int8 output for each byte of the first and of the second tensor, taken as unsigned.
    terms : int64 [256, 2]
        What each byte adds to the sum that is requantized.
    scale : float
        By what it is requantized.
    offset : float
        What is added then.
    is_given : bool [256]
        Which bytes the first tensor can have.
    """
    lows = np.where(results == -128, -_LIMIT, results * _ONE)
    highs = np.where(results == 127, _LIMIT, (results + 1) * _ONE) - 1
    lows[~is_given], highs[~is_given] = -_LIMIT, _LIMIT - 1
    for stretch in _STRETCHES:
        first = np.rint((terms[:, 0] * scale * stretch + offset + 0.5) * _ONE).astype(np.int64)
        second = np.rint(terms[:, 1] * scale * stretch * _ONE).astype(np.int64)
        first[~is_given] = 0
        for _ in range(_ROUNDS):
            sums = first[:, None] + second
            if ((sums >= lows) & (sums <= highs)).all():
                return _tables(first, second)
            first = _between(first, (lows - second).max(axis=1), (highs - second).min(axis=1))
            second = _between(
                second, (lows - first[:, None]).max(axis=0), (highs - first[:, None]).min(axis=0)
            )
    return None


def _tables(first: Ints, second: Ints) -> NDArray[np.int32] | None:
    """Return both tables, if the engine holds what is in them."""
    found = np.stack([first, second], axis=1)
    return found.astype(np.int32) if np.abs(found).max() < _LIMIT else None


def _between(values: Ints, lows: Ints, highs: Ints) -> Ints:
    """Return values that lie between limits, where these leave room; else in their middle."""
    return np.where(lows <= highs, values.clip(lows, highs), (lows + highs) // 2)
