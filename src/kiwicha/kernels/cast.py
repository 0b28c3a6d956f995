"""CAST: numbers as another type."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.element_types import numpy_type
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.integers import cast

__all__ = ["KERNELS", "Cast"]


@dataclass(frozen=True)
class Cast(Struct):
    """CAST: numbers as another type, as `kiwicha.numerics.integers.cast` says.

    Bytes that stand for uint8 are less by 128, as uint8 is within a Program.
    """

    input: Ref = ref("any type")
    output: Ref = ref("another type")
    count: int = u32("elements")
    input_dtype: int = u32("DType; UINT8: int8 less by 128")
    output_dtype: int = u32("DType; UINT8: int8 less by 128")


def _reference(memory: Memory, p: Cast) -> NDArray[Any]:
    values = memory.load(p.input, numpy_type(p.input_dtype), (p.count,))
    if p.input_dtype == DType.UINT8:
        values ^= np.uint8(128)
    output = cast(values, numpy_type(p.output_dtype))
    return output ^ np.uint8(128) if p.output_dtype == DType.UINT8 else output


def _work(p: Cast) -> Work:
    is_float = DType.FLOAT32 in {p.input_dtype, p.output_dtype}
    return Work(p.count, p.count if is_float else 0)


KERNELS = (
    Declaration(
        kernel=Kernel.CAST,
        params=Cast,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=311.0, output=27.6, unit=135.0),
        work=_work,
    ),
)
