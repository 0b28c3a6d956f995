"""Operators that look values up: any of one int8 input, DEQUANTIZE, and QUANTIZE of float32."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import float_edges as floats

__all__ = ["KERNELS", "Lookup", "Quantize"]


@dataclass(frozen=True)
class Lookup(Struct):
    """Operators with one input, and requantization: every byte is looked up in a table.

    With entries of 4 bytes it is DEQUANTIZE.
    """

    input: Ref = ref("int8")
    output: Ref = ref("as many entries as the input has bytes; of int8, may be the input")
    table: Ref = ref("int8 or float32 [256], constant, by the input byte taken as unsigned")


@dataclass(frozen=True)
class Quantize(Struct):
    """QUANTIZE of float32: -128 plus the number of thresholds that are at most the input."""

    input: Ref = ref("float32")
    output: Ref = ref("int8, as many")
    thresholds: Ref = ref("int32 [255], constant: `kiwicha.numerics.float_edges.thresholds`")


def _lookup(memory: Memory, p: Lookup) -> NDArray[Any]:
    """Return the table's entry, a byte or a word, for every byte of the input."""
    entry_bytes = p.table.bytes // 256
    if entry_bytes not in {1, 4} or p.input.bytes * entry_bytes != p.output.bytes:
        raise ProgramError(f"output must have an entry of the table per byte of the input, not {p}")
    table = memory.load(p.table, np.int8 if entry_bytes == 1 else np.int32, (256,))
    output: NDArray[Any] = table[memory.load(p.input, np.uint8, (p.input.bytes,))]
    return output


def _lookup_work(p: Lookup) -> Work:
    return Work(p.input.bytes)


def _quantize(memory: Memory, p: Quantize) -> NDArray[np.int8]:
    """Return how many thresholds are at most each float32 of the input, from -128 on."""
    if p.input.bytes != 4 * p.output.bytes:
        raise ProgramError(f"input must have 4 bytes per byte of the output, not {p}")
    thresholds = memory.load(p.thresholds, np.int32, (255,))
    values = floats.ordered_bits(memory.load(p.input, np.float32, (p.output.bytes,)))
    return (np.searchsorted(thresholds, values, side="right") - 128).astype(np.int8)


def _quantize_work(p: Quantize) -> Work:
    return Work(p.output.bytes)


KERNELS = (
    Declaration(
        kernel=Kernel.LOOKUP,
        params=Lookup,
        reference=_lookup,
        is_in_place=True,
        cost=Cost(step=400.0, output=9.4),
        work=_lookup_work,
    ),
    Declaration(
        kernel=Kernel.QUANTIZE,
        params=Quantize,
        reference=_quantize,
        cost=Cost(step=521.0, output=138.0, unit=0.0, extra=0.0),
        work=_quantize_work,
    ),
)
