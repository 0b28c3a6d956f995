"""ARG_MAX and ARG_MIN: the position of the first extreme byte along one dimension."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work

__all__ = ["KERNELS", "ArgMax"]


@dataclass(frozen=True)
class ArgMax(Struct):
    """ARG_MAX and ARG_MIN: the position of the first extreme byte along one dimension."""

    input: Ref = ref("int8 [outer, depth, inner]")
    output: Ref = ref("int32 or int64 [outer, inner]")
    outer: int = u32("product of the dimensions in front")
    depth: int = u32("size of the dimension")
    inner: int = u32("product of the dimensions behind")
    flip: int = i32("exchanges the bits that it has in bytes before they are compared: -1 or 0")
    words: int = u32("of an output: 1, or 2 of which the second is 0")


def _reference(memory: Memory, p: ArgMax) -> NDArray[np.signedinteger[Any]]:
    values = memory.load(p.input, np.int8, (p.outer, p.depth, p.inner)) ^ np.int8(p.flip)
    dtype: type[np.signedinteger[Any]] = np.int64 if p.words == 2 else np.int32
    positions: NDArray[np.signedinteger[Any]] = values.argmax(axis=1).astype(dtype)
    return positions


_LONG_ROW = 32
"""From so many bytes on, a row is searched in words."""
_ROW_BYTES = 66
"""As many bytes of long rows take as long as a row's beginning and end."""
_COLUMNS = 16
"""Bytes of neighbouring rows that are compared in one go."""
_CACHED_ROWS = 128
"""Lines of as many rows stay in the data cache until their next columns are read."""


def _work(p: ArgMax) -> Work:
    count = p.outer * p.depth * p.inner
    if p.inner == 1:
        if p.depth >= _LONG_ROW:
            return Work(p.outer, count + _ROW_BYTES * p.outer)
        # In fours behind the first byte; others take longer.
        return Work(p.outer, 0, p.outer * (3 * p.depth + 4 * ((p.depth - 1) % 4)) // 2)
    if p.inner % 4:
        # One by one.
        return Work(p.outer * p.inner, 0, count * 5 // 2)
    rest = p.outer * p.depth * (p.inner % _COLUMNS) if p.depth > _CACHED_ROWS else 0
    return Work(p.outer * p.inner, 0, count + rest)


KERNELS = (
    Declaration(
        kernel=Kernel.ARG_MAX,
        params=ArgMax,
        reference=_reference,
        cost=Cost(step=480.0, output=48.0, unit=2.4, extra=4.3),
        work=_work,
    ),
)
