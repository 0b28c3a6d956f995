"""The variable-length code of a weight stream: which one suits a layer, and its table.

`kiwicha.program.codec.streams` says what it looks like.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.codec import MAX_RANGE_BITS, PREFIX_BITS, TABLE_ENTRIES

__all__ = ["Code", "best_code"]

_PRICES = (-2.0, 6.0, 33)
"""Logarithms of the first and the last price of `_partitions`, per value, and their number."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Leaf:
    """Values ``base`` to ``base + 2**range_bits - 1``, how often they occur, and their prefix."""

    base: int
    range_bits: int
    count: int


@dataclass(frozen=True, eq=False)
class Code:
    """Code of each byte value: bits, their number; and the table's 32 entries, uint16."""

    bits: Ints
    lengths: Ints
    entries: NDArray[np.uint16]


def best_code(histogram: Ints) -> Code:
    """Return the shortest code among those of several tries."""
    tries = [
        (leaves, _prefix_lengths([leaf.count for leaf in leaves]))
        for leaves in _partitions(histogram)
    ]
    return _code(*min(tries, key=lambda found: _size(*found)))


def _size(leaves: list[_Leaf], prefix_lengths: list[int]) -> int:
    """Return the bits that all values take."""
    return sum(
        leaf.count * (length + leaf.range_bits)
        for leaf, length in zip(leaves, prefix_lengths, strict=True)
    )


def _partitions(histogram: Ints) -> Iterable[list[_Leaf]]:
    """Yield divisions of the byte values into at most `TABLE_ENTRIES` leaves.

    Each is the cheapest trie if a prefix of n bits costs n and a share 2**-n of all codes, at some
    price: all shares together must not exceed 1.
    """
    levels = [histogram.astype(np.float64)]
    for _ in range(MAX_RANGE_BITS):
        levels.append(levels[-1].reshape(-1, 2).sum(axis=1))
    total = levels[-1].sum()
    lengths = np.arange(PREFIX_BITS + 1)[:, None]
    # All prices at once: [prices, lengths of prefixes, values].
    prices = (total * 2.0 ** np.linspace(*_PRICES))[:, None, None]
    costs = [
        (level > 0) * (level * (lengths + k) + prices * 2.0**-lengths).min(axis=1)
        for k, level in enumerate(levels)
    ]
    best = costs[0]
    is_leaf = [np.ones(best.shape, np.bool_)]
    for cost in costs[1:]:
        below = best.reshape(len(best), -1, 2).sum(axis=2)
        is_leaf.append(cost <= below)
        best = np.minimum(cost, below)
    counts = [level.tolist() for level in levels]
    seen = set()
    for price in range(len(best)):
        leaves = _leaves(counts, [found[price].tolist() for found in is_leaf])
        shape = tuple((leaf.base, leaf.range_bits) for leaf in leaves)
        if len(leaves) <= TABLE_ENTRIES and shape not in seen:
            seen.add(shape)
            yield leaves


def _leaves(levels: list[list[float]], is_leaf: list[list[bool]]) -> list[_Leaf]:
    """Return the leaves that occur, from the top of the trie down."""
    leaves = []
    nodes = [(MAX_RANGE_BITS, n) for n in range(1 << 8 - MAX_RANGE_BITS)]
    while nodes:
        k, n = nodes.pop()
        count = int(levels[k][n])
        if not count:
            continue
        if is_leaf[k][n]:
            # A lone value needs no bits.
            leaves.append(_Leaf(n << k, k, count))
        else:
            nodes += [(k - 1, 2 * n + 1), (k - 1, 2 * n)]
    return leaves


def _code(leaves: list[_Leaf], prefix_lengths: list[int]) -> Code:
    """Return the code of leaves, with prefixes of these lengths."""
    bits, lengths = np.zeros(256, np.int64), np.zeros(256, np.int64)
    entries = np.zeros(TABLE_ENTRIES, np.uint16)
    next_code = 0
    order = sorted(range(len(leaves)), key=lambda number: (prefix_lengths[number], number))
    for number in order:
        leaf, prefix_length = leaves[number], prefix_lengths[number]
        count = 1 << PREFIX_BITS - prefix_length
        # The first bit is the least significant one.
        prefix = _reversed(next_code, PREFIX_BITS)
        next_code += count
        span = np.arange(1 << leaf.range_bits)
        bits[leaf.base + span] = prefix | span << prefix_length
        length = prefix_length + leaf.range_bits
        lengths[leaf.base + span] = length
        entries[prefix + (np.arange(count) << prefix_length)] = (
            leaf.base | length << 8 | prefix_length << 12
        )
    return Code(bits, lengths, entries)


def _reversed(value: int, width: int) -> int:
    return int(f"{value:0{width}b}"[::-1], 2)


def _prefix_lengths(counts: list[int]) -> list[int]:
    """Return lengths of at most `PREFIX_BITS` of an optimal prefix code (package-merge)."""
    lengths = [0] * len(counts)
    if len(counts) == 1:
        return lengths
    single: list[tuple[int, tuple[int, ...]]] = sorted(
        (count, (number,)) for number, count in enumerate(counts)
    )
    merged = single
    for _ in range(PREFIX_BITS - 1):
        pairs = zip(merged[::2], merged[1::2], strict=False)
        packages = [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]
        merged = sorted(single + packages)
    for _, members in merged[: 2 * len(counts) - 2]:
        for number in members:
            lengths[number] += 1
    return lengths
