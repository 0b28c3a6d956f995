"""Kernels that look values up, in numpy, bit for bit what the C kernels compute."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import ArgMax, Lookup, Quantize
from kiwicha.errors import ProgramError
from kiwicha.numerics import float_edges as floats
from kiwicha.sim.reference.memory import Memory

__all__ = ["arg_max", "lookup", "quantize"]


def lookup(memory: Memory, p: Lookup) -> NDArray[Any]:
    """Return the table's entry, a byte or a word, for every byte of the input."""
    entry_bytes = p.table.bytes // 256
    if entry_bytes not in {1, 4} or p.input.bytes * entry_bytes != p.output.bytes:
        raise ProgramError(f"output must have an entry of the table per byte of the input, not {p}")
    table = memory.load(p.table, np.int8 if entry_bytes == 1 else np.int32, (256,))
    output: NDArray[Any] = table[memory.load(p.input, np.uint8, (p.input.bytes,))]
    return output


def quantize(memory: Memory, p: Quantize) -> NDArray[np.int8]:
    """Return how many thresholds are at most each float32 of the input, from -128 on."""
    if p.input.bytes != 4 * p.output.bytes:
        raise ProgramError(f"input must have 4 bytes per byte of the output, not {p}")
    thresholds = memory.load(p.thresholds, np.int32, (255,))
    values = floats.ordered_bits(memory.load(p.input, np.float32, (p.output.bytes,)))
    return (np.searchsorted(thresholds, values, side="right") - 128).astype(np.int8)


def arg_max(memory: Memory, p: ArgMax) -> NDArray[np.int32]:
    """Return the position of the first largest byte along one dimension."""
    values = memory.load(p.input, np.int8, (p.outer, p.depth, p.inner))
    positions: NDArray[np.int32] = values.argmax(axis=1).astype(np.int32)
    return positions
