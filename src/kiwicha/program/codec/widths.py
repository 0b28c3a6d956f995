"""Widths of quads: how many planes bytes need, and which pairs a stream's table lists."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.codec import MAX_WIDTH, WIDTH_PAIRS

__all__ = ["best_pairs", "pair_of_widths", "widths_of"]

_WIDTHS = MAX_WIDTH + 1
_ROUNDS = 3
"""How often each pair is exchanged for the one that is best beside the others."""
Ints = NDArray[np.int64]


def widths_of(values: NDArray[np.int8]) -> Ints:
    """Return the bits of each value in two's complement; 0 for zero."""
    return _TABLE[values.view(np.uint8)]


def _table() -> Ints:
    values = np.arange(256).astype(np.uint8).view(np.int8).astype(np.int64)
    bits = [int(value if value >= 0 else -value - 1).bit_length() + 1 for value in values]
    return np.where(values == 0, 0, bits)


_TABLE = _table()


@cache
def _costs() -> Ints:
    """Return the planes that a block of some widths takes under each pair.

    int [pairs, blocks]: both are ``9 * first + second``; what does not fit costs very much.
    """
    first, second = np.divmod(np.arange(_WIDTHS**2), _WIDTHS)
    fits = (first[None] <= first[:, None]) & (second[None] <= second[:, None])
    costs: Ints = np.where(fits, (first + second)[:, None], 1 << 20)
    return costs


def best_pairs(first: Ints, second: Ints) -> list[tuple[int, int]]:
    """Return `WIDTH_PAIRS` pairs of widths for blocks whose quads have these widths.

    The first one fits everything. The others are taken one after the other, the one that saves most
    first, and then exchanged for better ones. Those that no block needs are like the first.
    """
    histogram = np.bincount(_WIDTHS * first + second, minlength=_WIDTHS**2)
    costs = _costs()
    chosen = [_WIDTHS**2 - 1]
    while len(chosen) < WIDTH_PAIRS:
        chosen.append(_best_beside(chosen, histogram))
    for _ in range(_ROUNDS):
        for place in range(1, WIDTH_PAIRS):
            chosen[place] = _best_beside(chosen[:place] + chosen[place + 1 :], histogram)
    used = np.unique(costs[chosen].argmin(axis=0)[histogram > 0])
    pairs = [divmod(chosen[place], _WIDTHS) for place in used]
    return pairs + [(MAX_WIDTH, MAX_WIDTH)] * (WIDTH_PAIRS - len(pairs))


def _best_beside(chosen: list[int], histogram: Ints) -> int:
    """Return the pair with which, beside those chosen, all blocks take the fewest planes."""
    least = _costs()[chosen].min(axis=0)
    return int((np.minimum(_costs(), least) @ histogram).argmin())


def pair_of_widths(pairs: list[tuple[int, int]], first: Ints, second: Ints) -> Ints:
    """Return for each block the number of the pair that takes the fewest planes."""
    rows = [_WIDTHS * a + b for a, b in pairs]
    best = _costs()[rows].argmin(axis=0)
    numbers: Ints = best[_WIDTHS * first + second]
    return numbers
