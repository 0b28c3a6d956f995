"""ARG_MAX: the position of the first largest byte along one dimension."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work

__all__ = ["KERNELS", "ArgMax"]


@dataclass(frozen=True)
class ArgMax(Struct):
    """ARG_MAX: the position of the first largest byte along one dimension."""

    input: Ref = ref("int8 [outer, depth, inner]")
    output: Ref = ref("int32 [outer, inner]")
    outer: int = u32("product of the dimensions in front")
    depth: int = u32("size of the dimension")
    inner: int = u32("product of the dimensions behind")


def _reference(memory: Memory, p: ArgMax) -> NDArray[np.int32]:
    values = memory.load(p.input, np.int8, (p.outer, p.depth, p.inner))
    positions: NDArray[np.int32] = values.argmax(axis=1).astype(np.int32)
    return positions


def _work(p: ArgMax) -> Work:
    return Work(p.outer * p.inner, p.input.bytes)


KERNELS = (
    Declaration(
        kernel=Kernel.ARG_MAX,
        params=ArgMax,
        reference=_reference,
        cost=Cost(step=662.0, output=0.0, unit=15.9, extra=0.0),
        work=_work,
    ),
)
