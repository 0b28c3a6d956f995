"""Functions of the difference of two bytes, such as SOFTMAX of rows of two."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work

__all__ = ["DIFFERENCES", "KERNELS", "PAIR", "Pairs"]

PAIR = 2
"""Bytes of a row."""
DIFFERENCES = 511
"""Of two bytes: -255 to 255."""
_TYPES: dict[int, type[np.signedinteger[Any]]] = {1: np.int8, 2: np.int16, 4: np.int32}
"""By the bytes of an element."""


@dataclass(frozen=True)
class Pairs(Struct):
    """Rows of two, looked up: each output is that of its byte less the other one."""

    input: Ref = ref("int8 [rows, 2]")
    output: Ref = ref("int8, int16 or int32 [rows, 2]")
    table: Ref = ref("the output's type [511], from a difference of -255 on; constant")
    rows: int = u32("pairs")
    output_bytes: int = u32("of an element: 1, 2 or 4")


def _reference(memory: Memory, p: Pairs) -> NDArray[Any]:
    x = memory.load(p.input, np.int8, (p.rows, PAIR)).astype(np.int64)
    table = memory.load(p.table, _TYPES[p.output_bytes], (DIFFERENCES,))
    found: NDArray[Any] = table[x - x[:, ::-1] + DIFFERENCES // 2]
    return found


def _work(p: Pairs) -> Work:
    return Work(PAIR * p.rows)


KERNELS = (
    Declaration(
        kernel=Kernel.PAIRS,
        params=Pairs,
        reference=_reference,
        is_on_demand=True,
        tables=("table",),
        cost=Cost(step=350.0, output=20.0),
        work=_work,
    ),
)
