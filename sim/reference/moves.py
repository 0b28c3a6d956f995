"""The kernel that only moves data in numpy, bit for bit what the C kernel does."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import Copy
from kiwicha.errors import ProgramError
from kiwicha.sim.reference.memory import Memory, check_overlap

__all__ = ["run_copy"]


def run_copy(memory: Memory, p: Copy) -> NDArray[np.uint8]:
    """Copy runs of bytes and return them, uint8 [*shape, run_bytes].

    Raises
    ------
    ProgramError
        If a reference does not hold exactly what is touched, or as `Memory.gather` and
        `Memory.scatter`.
    """
    if min(p.shape) < 1 or p.run_bytes < 1:
        raise ProgramError(f"number and size of runs must be 1 or more, not {p}")
    check_overlap(p, may_be_in_place=False)
    sources = p.input_start + _offsets(p.shape, p.input_strides, p.run_bytes)
    targets = _offsets(p.shape, p.output_strides, p.run_bytes)
    for ref, offsets in ((p.input, sources), (p.output, targets)):
        if offsets.min() != 0 or offsets.max() != ref.bytes - 1:
            raise ProgramError(f"a reference must hold what is touched, not {ref} ({p})")
    values = memory.gather(p.input, sources)
    memory.scatter(p.output, targets, values)
    return values


def _offsets(shape: Sequence[int], strides: Sequence[int], run_bytes: int) -> NDArray[np.int64]:
    """Return where every byte of every run lies, int64 [*shape, run_bytes]."""
    offsets = np.arange(run_bytes, dtype=np.int64)
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        steps = np.arange(size, dtype=np.int64) * stride
        offsets = steps.reshape(-1, *[1] * offsets.ndim) + offsets
    return offsets
