"""The variable-length code of a layer: the best one of its kind, and its table."""

import itertools

import numpy as np
import pytest

from kiwicha.contract.codec import MAX_RANGE_BITS, PREFIX_BITS, TABLE_ENTRIES
from kiwicha.program.codec import code_table
from kiwicha.program.codec.code_table import Code, best_code


def laplace(spread: float) -> np.ndarray:
    values = np.random.default_rng(4).laplace(0, spread, 5000).round().astype(np.int64)
    return np.bincount(values & 255, minlength=256)


def some(places: list[int], counts: list[int]) -> np.ndarray:
    histogram = np.zeros(256, np.int64)
    histogram[places] = counts
    return histogram


HISTOGRAMS = {
    "narrow": laplace(1.5),
    "wide": laplace(30),
    "uniform": np.full(256, 3),
    "32 alone": some(list(range(3, 256, 8)), list(range(100, 132))),
    "33 alone": some(list(range(0, 231, 7)), list(range(50, 83))),
    "powers": some([0, 255, 1, 254, 2, 77], [1 << k for k in (12, 9, 7, 4, 2, 0)]),
    "two": some([9, 200], [5, 3]),
}


def cheapest(histogram: np.ndarray, price: float) -> list[tuple[int, int]]:
    """Return first values and bits of the leaves of the cheapest trie, by trying both, always."""

    def best(first: int, bits: int) -> tuple[float, list[tuple[int, int]]]:
        count = int(histogram[first : first + 2**bits].sum())
        if not count:
            return 0.0, []
        whole = min(count * (n + bits) + price * 2.0**-n for n in range(PREFIX_BITS + 1))
        if not bits:
            return whole, [(first, bits)]
        (a, left), (b, right) = (best(at, bits - 1) for at in (first, first + 2 ** (bits - 1)))
        return (whole, [(first, bits)]) if whole <= a + b else (a + b, left + right)

    roots = range(0, 256, 2**MAX_RANGE_BITS)
    return [leaf for first in roots for leaf in best(first, MAX_RANGE_BITS)[1]]


def shortest(counts: list[int]) -> int:
    """Return the bits of the best prefix code of at most `PREFIX_BITS`, by trying all lengths."""
    if len(counts) == 1:
        return 0
    # Least bits by the share of all codes that is taken, in 2**-PREFIX_BITS.
    least = {0: 0}
    for count in counts:
        following: dict[int, int] = {}
        for taken, bits in least.items():
            for length in range(1, PREFIX_BITS + 1):
                share = taken + 2 ** (PREFIX_BITS - length)
                if share <= 2**PREFIX_BITS:
                    total = bits + count * length
                    following[share] = min(total, following.get(share, total))
        least = following
    return min(least.values())


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_divisions_are_the_cheapest_at_some_price(name: str) -> None:
    histogram = HISTOGRAMS[name]
    prices = [int(histogram.sum()) * 2.0 ** (-2 + k / 4) for k in range(33)]
    expected = [cheapest(histogram, price) for price in prices]
    found = [
        sorted((leaf.base, leaf.range_bits) for leaf in leaves)
        for leaves in code_table._partitions(histogram)
    ]
    assert sorted(found) == sorted(
        leaves for leaves, _ in itertools.groupby(sorted(expected)) if len(leaves) <= TABLE_ENTRIES
    )


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_the_shortest_of_these_codes_is_taken(name: str) -> None:
    histogram = HISTOGRAMS[name]
    sizes = [
        shortest([leaf.count for leaf in leaves])
        + sum(leaf.count * leaf.range_bits for leaf in leaves)
        for leaves in code_table._partitions(histogram)
    ]
    assert int((best_code(histogram).lengths * histogram).sum()) == min(sizes)


def codes(code: Code, histogram: np.ndarray) -> list[tuple[int, int]]:
    """Return bits and their number for each value that occurs."""
    return [(int(code.bits[v]), int(code.lengths[v])) for v in np.flatnonzero(histogram)]


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_no_code_begins_another(name: str) -> None:
    histogram = HISTOGRAMS[name]
    code = best_code(histogram)
    assert code.bits.shape == code.lengths.shape == (256,)
    for (a, m), (b, n) in itertools.combinations(codes(code, histogram), 2):
        length = min(m, n)
        assert a % 2**length != b % 2**length


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_the_table_says_which_leaf_a_code_is_of(name: str) -> None:
    histogram = HISTOGRAMS[name]
    code = best_code(histogram)
    assert (code.entries.shape, code.entries.dtype) == ((TABLE_ENTRIES,), np.uint16)
    for value, (bits, length) in zip(
        np.flatnonzero(histogram).tolist(), codes(code, histogram), strict=True
    ):
        assert bits < 2**length
        # Whatever follows the code.
        for more in (0, 2**PREFIX_BITS - 1):
            entry = int(code.entries[(bits | more << length) % 2**PREFIX_BITS])
            base, whole, prefix = entry & 255, entry >> 8 & 15, entry >> 12
            assert whole == length
            assert base + (bits >> prefix) == value
            assert base % 2 ** (whole - prefix) == 0


@pytest.mark.parametrize("count", [2, 3, 5, 31, 32])
@pytest.mark.parametrize("seed", [0, 1])
def test_prefixes_are_the_shortest(count: int, seed: int) -> None:
    rng = np.random.default_rng([seed, count])
    counts = (1 + rng.pareto(0.6 + seed, count) * 10).astype(np.int64).clip(max=10**6).tolist()
    lengths = code_table._prefix_lengths(counts)
    assert 1 <= min(lengths) <= max(lengths) <= PREFIX_BITS
    assert sum(2.0**-length for length in lengths) <= 1
    assert sum(c * n for c, n in zip(counts, lengths, strict=True)) == shortest(counts)
    assert code_table._prefix_lengths([7]) == [0]
