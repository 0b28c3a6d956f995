"""Fields of wide words, for the benches of the engine."""

from collections.abc import Sequence

__all__ = ["pack", "signed_fields", "unpack"]


def pack(values: Sequence[int], bits: int) -> int:
    """Return fields of a word, the first in the least significant bits."""
    mask = (1 << bits) - 1
    word = 0
    for value in reversed(values):
        word = word << bits | (int(value) & mask)
    return word


def unpack(word: int, bits: int, count: int) -> list[int]:
    """Return the unsigned fields of a word."""
    return [word >> bits * k & ((1 << bits) - 1) for k in range(count)]


def signed_fields(word: int, bits: int, count: int) -> list[int]:
    """Return the signed fields of a word."""
    half = 1 << (bits - 1)
    return [(field ^ half) - half for field in unpack(word, bits, count)]
