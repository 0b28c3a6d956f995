"""Numbers of int16 as int8, by a line."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work

__all__ = ["KERNELS", "ShortLine"]


@dataclass(frozen=True)
class ShortLine(Struct):
    """Functions of one int16 that never fall: ``(factor x + offset) >> shift``, x within limits."""

    input: Ref = ref("int16 [count]")
    output: Ref = ref("int8 [count]")
    count: int = u32("numbers")
    first: int = i32("smaller numbers count as this one, an int16")
    last: int = i32("larger numbers count as this one, an int16")
    factor: int = i32("0 or more")
    offset: int = i32("no sum needs more than 32 bits, no output more than 8")
    shift: int = u32("at most 31")


def _reference(memory: Memory, p: ShortLine) -> NDArray[np.int8]:
    numbers = memory.load(p.input, np.int16, (p.count,)).astype(np.int64)
    line = p.factor * numbers.clip(p.first, p.last) + p.offset >> p.shift
    return line.astype(np.int8)


KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_LINE,
        params=ShortLine,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=300.0, output=20.0),
        work=lambda p: Work(p.count),
    ),
)
