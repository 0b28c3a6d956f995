"""QUANTIZE of float32 to int16, and DEQUANTIZE of int16, which tables are too long for.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/{quantize,dequantize}.h in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.float_edges import dequantized, quantized

__all__ = ["KERNELS", "ShortDequantize", "ShortQuantize", "float_bits"]


@dataclass(frozen=True)
class ShortQuantize(Struct):
    """QUANTIZE: float32 over a scale, rounded half away from zero."""

    input: Ref = ref("float32 [count]; a NaN counts as an infinity of its sign")
    output: Ref = ref("int16 [count]")
    count: int = u32("elements")
    scale: int = u32("bits of a float32, finite and more than 0")
    output_offset: int = i32("zero point of the output, -32768 to 32767")


@dataclass(frozen=True)
class ShortDequantize(Struct):
    """DEQUANTIZE: integers times a scale, rounded to float32."""

    input: Ref = ref("int16 [count]")
    output: Ref = ref("float32 [count]")
    count: int = u32("elements")
    scale: int = u32("bits of a float32, finite and more than 0")
    input_offset: int = i32("minus the zero point of the input, -32767 to 32768")


def float_bits(scale: float) -> int:
    """Return the bits of a float32."""
    return int(np.float32(scale).view(np.uint32))


def _number(bits: int) -> float:
    return float(np.uint32(bits).view(np.float32))


def _quantize(memory: Memory, p: ShortQuantize) -> NDArray[np.int16]:
    x = memory.load(p.input, np.float32, (p.count,))
    x = np.where(np.isnan(x), np.copysign(np.float32(np.inf), x), x)
    return quantized(x, _number(p.scale), p.output_offset, np.int16).astype(np.int16)


def _dequantize(memory: Memory, p: ShortDequantize) -> NDArray[np.float32]:
    x = memory.load(p.input, np.int16, (p.count,))
    return dequantized(x, _number(p.scale), -p.input_offset)


def _work(p: ShortQuantize | ShortDequantize) -> Work:
    return Work(p.count)


KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_QUANTIZE,
        params=ShortQuantize,
        reference=_quantize,
        is_on_demand=True,
        cost=Cost(step=300.0, output=236.0),
        work=_work,
    ),
    Declaration(
        kernel=Kernel.SHORT_DEQUANTIZE,
        params=ShortDequantize,
        reference=_dequantize,
        is_on_demand=True,
        cost=Cost(step=300.0, output=193.0),
        work=_work,
    ),
)
