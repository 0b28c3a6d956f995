"""Kernels that look values up, in numpy, bit for bit what the C kernels compute."""

import numpy as np
from numpy.typing import NDArray

from kiwicha import isa
from kiwicha.errors import ProgramError
from kiwicha.sim.reference_memory import Memory

__all__ = ["lookup"]


def lookup(memory: Memory, p: isa.Lookup) -> NDArray[np.int8]:
    """Return every byte of the input through the table."""
    if p.input.bytes != p.output.bytes:
        raise ProgramError(f"input and output must have one size, not {p}")
    table: NDArray[np.int8] = memory.load(p.table, np.int8, (256,))
    output: NDArray[np.int8] = table[memory.load(p.input, np.uint8, (p.input.bytes,))]
    return output
