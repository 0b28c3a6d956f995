"""QUANTIZE between integers of which one has more than a byte.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/requantize.h in tflite-micro.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier, wrap_int32

__all__ = ["KERNELS", "Requantize", "requantized"]

_TYPES: dict[int, type[np.signedinteger[Any]]] = {1: np.int8, 2: np.int16, 4: np.int32}
"""By the bytes of an element."""


@dataclass(frozen=True)
class Requantize(Struct):
    """QUANTIZE: integers times a scale, with another zero point."""

    input: Ref = ref("int8, int16 or int32 [count]")
    output: Ref = ref("int8, int16 or int32 [count]")
    count: int = u32("elements")
    input_bytes: int = u32("of an element: 1, 2 or 4")
    output_bytes: int = u32("of an element: 1, 2 or 4")
    input_offset: int = i32("minus the zero point of the input")
    multiplier: int = i32("of the scale")
    shift: int = i32("of the scale")
    output_offset: int = i32("zero point of the output")


def requantized(p: Requantize, values: NDArray[Any]) -> NDArray[Any]:
    """Return what such a QUANTIZE makes of integers."""
    x = wrap_int32(values.astype(np.int64) + p.input_offset)
    scaled = multiply_by_quantized_multiplier(x, p.multiplier, p.shift)
    target = _TYPES[p.output_bytes]
    limits = np.iinfo(target)
    found: NDArray[Any] = wrap_int32(scaled + p.output_offset).clip(limits.min, limits.max)
    return found.astype(target)


def _reference(memory: Memory, p: Requantize) -> NDArray[Any]:
    return requantized(p, memory.load(p.input, _TYPES[p.input_bytes], (p.count,)))


def _work(p: Requantize) -> Work:
    return Work(p.count)


KERNELS = (
    Declaration(
        kernel=Kernel.REQUANTIZE,
        params=Requantize,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=700.0, output=32.0),
        work=_work,
    ),
)
