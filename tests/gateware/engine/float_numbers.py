"""Numbers of float32 that transfers convert: into the scratchpad, and out of it again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.numerics.float_edges import dequantized, ordered_bits, thresholds
from kiwicha.program.float_tables import quantize_table

__all__ = ["EDGES", "Floats", "dequantize_table", "numbers_near", "quantized_bits", "random_floats"]

EDGES = ((0.1, -128), (0.0078125, 0), (1.7e-30, 127), (3e30, -5), (2.5e-36, 17))
"""Scales and zero points."""
SPECIAL = (0, 1, 0x007F_FFFF, 0x0080_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7F80_0001, 0x7FFF_FFFF)
"""Bits of zero, of the smallest and largest numbers with and without a leading 1, of infinity and
of NaNs."""
_UNIT = 16
_BYTES = np.arange(256, dtype=np.uint8).view(np.int8)

Bits = NDArray[np.uint32]


@dataclass(frozen=True)
class Floats:
    """Numbers that a list loads before its jobs, and stores behind them, at the same bytes.

    Parameters
    ----------
    bits : uint32 [N]
        The numbers; N is a multiple of 16.
    first : int
        Address of the first one's byte in the scratchpad, a multiple of 16.
    scale, zero_point : float, int
        Of the bytes.
    """

    bits: Bits
    first: int
    scale: float
    zero_point: int

    @property
    def tables(self) -> tuple[bytes, bytes]:
        """The tables of the load and of the store."""
        table = quantize_table(self.scale, self.zero_point)
        assert table is not None
        return table, dequantize_table(self.scale, self.zero_point)

    @property
    def bytes(self) -> slice:
        """Where they are in the scratchpad."""
        return slice(self.first, self.first + len(self.bits))

    def load(self, memory: NDArray[np.uint8]) -> None:
        """Change a scratchpad's bytes as the load does."""
        memory[self.bytes] = quantized_bits(self.bits, self.scale, self.zero_point).view(np.uint8)

    def stored(self, memory: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return what the store writes, as bytes of float32 numbers."""
        values = memory[self.bytes].view(np.int8)
        return dequantized(values, self.scale, self.zero_point).view(np.uint8)


def dequantize_table(scale: float, zero_point: int) -> bytes:
    """Return the table of a DEQUANTIZE."""
    return dequantized(_BYTES, scale, zero_point).tobytes()


def quantized_bits(bits: Bits, scale: float, zero_point: int) -> NDArray[np.int8]:
    """Return what a QUANTIZE makes of any bits: its output is the number of thresholds reached."""
    ordered = ordered_bits(bits.view(np.float32))
    counts = np.searchsorted(thresholds(scale, zero_point), ordered, side="right")
    return (counts - 128).astype(np.int8)


def numbers_near(scale: float, zero_point: int, rng: np.random.Generator) -> Bits:
    """Return all thresholds, their neighbours, what is special, and random bits; in any order.

    They are a multiple of 16.
    """
    ordered = thresholds(scale, zero_point)
    near = np.concatenate([ordered - 1, ordered, ordered + 1]).astype(np.int32)
    near ^= (near >> 31) & np.int32(0x7FFF_FFFF)
    signed = [bits | sign << 31 for bits in SPECIAL for sign in (0, 1)]
    usual = rng.normal(0, 100 * scale, 700).astype(np.float32).view(np.uint32)
    found = np.concatenate([near.view(np.uint32), np.array(signed, np.uint32), usual])
    any_bits = rng.integers(0, 1 << 32, -len(found) % _UNIT + 592, dtype=np.uint32)
    return rng.permutation(np.concatenate([found, any_bits]))


def random_floats(rng: np.random.Generator, memory_bytes: int) -> Floats:
    """Return some numbers, for a part of a scratchpad's first bytes."""
    scale, zero_point = EDGES[int(rng.integers(len(EDGES)))]
    numbers = numbers_near(scale, zero_point, rng)
    count = int(rng.integers(1, min(memory_bytes // 4, len(numbers)) // _UNIT + 1)) * _UNIT
    first = int(rng.integers(0, (memory_bytes - count) // _UNIT + 1)) * _UNIT
    return Floats(numbers[:count], first, scale, zero_point)
