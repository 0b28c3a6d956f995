"""ARG_MAX and ARG_MIN of a dimension in parts, in each of which the extreme byte is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work

__all__ = ["KERNELS", "ArgMaxOfParts"]


@dataclass(frozen=True)
class ArgMaxOfParts(Struct):
    """ARG_MAX and ARG_MIN of parts: the position of the first extreme byte in all of them."""

    input: Ref = ref("int8 [outer, parts, inner]: the extreme byte of each part")
    positions: Ref = ref("int32 [outer, parts, inner]: the first position that has it in its part")
    output: Ref = ref("int32 or int64 [outer, inner]")
    outer: int = u32("product of the dimensions in front")
    parts: int = u32("of the dimension")
    inner: int = u32("product of the dimensions behind")
    part: int = u32("positions of a part")
    flip: int = i32("exchanges the bits that it has in bytes before they are compared: -1 or 0")
    words: int = u32("of an output: 1, or 2 of which the second is 0")


def _reference(memory: Memory, p: ArgMaxOfParts) -> NDArray[np.signedinteger[Any]]:
    shape = (p.outer, p.parts, p.inner)
    values = memory.load(p.input, np.int8, shape) ^ np.int8(p.flip)
    places = values.argmax(axis=1)[:, None]
    positions = np.take_along_axis(memory.load(p.positions, np.int32, shape), places, axis=1)
    dtype: type[np.signedinteger[Any]] = np.int64 if p.words == 2 else np.int32
    found: NDArray[np.signedinteger[Any]] = (places * p.part + positions)[:, 0].astype(dtype)
    return found


def _work(p: ArgMaxOfParts) -> Work:
    return Work(p.outer * p.inner, p.outer * p.parts * p.inner)


KERNELS = (
    Declaration(
        kernel=Kernel.ARG_MAX_OF_PARTS,
        params=ArgMaxOfParts,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=203.0, output=34.5, unit=18.6),
        work=_work,
    ),
)
