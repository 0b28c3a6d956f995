"""Element-wise layers as tables over the 256 values of an input byte."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier, requantize, wrap_int32

__all__ = [
    "PAIR_KERNELS",
    "SUMS",
    "byte_table",
    "lookup_table",
    "pair_results",
    "sum_terms",
]

PAIR_KERNELS = frozenset({
    Kernel.ADD,
    Kernel.SUB,
    Kernel.MUL,
    Kernel.MINIMUM,
    Kernel.MAXIMUM,
    Kernel.PRELU,
    Kernel.SQUARED_DIFFERENCE,
})
"""Kernels on two tensors, element by element."""
SUMS = frozenset({Kernel.ADD, Kernel.SUB, Kernel.SQUARED_DIFFERENCE})
"""Kernels whose outputs are scaled sums of two terms, or squares of such sums."""


def byte_table(network: Network, layer: Layer) -> NDArray[np.int64] | None:
    """Return the outputs of a layer that maps single bytes, by unsigned input byte.

    LOOKUP; any of `PAIR_KERNELS` with one constant number that is not the larger tensor. None for
    others.
    """
    if layer.kernel is Kernel.LOOKUP:
        return lookup_table(layer)
    first, second, output = (
        network.tensors[layer.tensors[name]] for name in ("input_1", "input_2", "output")
    )
    if first.is_constant is second.is_constant:
        return None
    scalar, variable = (first, second) if first.is_constant else (second, first)
    if scalar.elements != 1 or variable.elements != output.elements:
        return None
    number = scalar.int8s().reshape(-1).astype(np.int64)
    pair = (number, ALL_BYTES) if scalar is first else (ALL_BYTES, number)
    return pair_results(layer.kernel, layer.params, *pair)


def lookup_table(layer: Layer) -> NDArray[np.int64] | None:
    """Return the table of a LOOKUP that gives int8, by unsigned input byte; None for others."""
    if layer.kernel is not Kernel.LOOKUP or layer.constants["table"].dtype != np.int8:
        return None
    return layer.constants["table"].astype(np.int64)


def sum_terms(
    kernel: Kernel | None, p: Elementwise, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two terms of one of `SUMS`."""
    scale = multiply_by_quantized_multiplier
    a = scale(wrap_int32((first + p.offset_1) << p.left_shift), p.multiplier_1, p.shift_1)
    b = scale(wrap_int32((second + p.offset_2) << p.left_shift), p.multiplier_2, p.shift_2)
    return a, b if kernel is Kernel.ADD else -b


def pair_results(
    kernel: Kernel | None, p: Elementwise, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the outputs of one of `PAIR_KERNELS`."""
    if kernel in {Kernel.MINIMUM, Kernel.MAXIMUM}:
        return np.minimum(first, second) if kernel is Kernel.MINIMUM else np.maximum(first, second)
    if kernel in {Kernel.MUL, Kernel.PRELU}:
        values = (first + p.offset_1) * (second + p.offset_2)
    else:
        values = np.add(*sum_terms(kernel, p, first, second))
        values = values**2 if kernel is Kernel.SQUARED_DIFFERENCE else values
    limits = p.output_offset, p.activation_min, p.activation_max
    results = requantize(wrap_int32(values), p.output_multiplier, p.output_shift, *limits)
    if kernel is Kernel.PRELU:
        kept = requantize(first + p.offset_1, p.multiplier_1, p.shift_1, *limits)
        results = np.where(first + p.offset_1 >= 0, kept, results)
    return results
