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


def _work(p: ArgMax) -> Work:
    count = p.outer * p.depth * p.inner
    return Work(p.outer * p.inner, count, count if p.inner > 1 else 0)


KERNELS = (
    Declaration(
        kernel=Kernel.ARG_MAX,
        params=ArgMax,
        reference=_reference,
        cost=Cost(step=1580.0, output=5.0, unit=8.6, extra=3.2),
        work=_work,
    ),
)
