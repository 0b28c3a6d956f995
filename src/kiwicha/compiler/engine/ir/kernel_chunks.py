"""Chunks of a convolution's kernel, and blocks of its outputs, as operations of their own."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.numerics.requantization import wrap_int32
from kiwicha.program.weight_streams import Parameters

__all__ = ["Chunk", "block_of", "part_of", "summed", "with_zero_points"]

Chunk = tuple[slice, slice, slice]
"""Kernel rows, kernel columns and channels."""


def block_of(operation: Convolution, outputs: slice) -> Convolution:
    """Return the operation of some outputs."""
    p = operation.parameters
    return dataclasses.replace(
        operation,
        output_channels=outputs.stop - outputs.start,
        parameters=Parameters(*(values[outputs] for values in (p.bias, p.multiplier, p.shift))),
        weights=operation.weights[outputs],
    )


def part_of(operation: Convolution, chunk: Chunk) -> Convolution:
    """Return the operation of a part of the kernel."""
    rows, columns, channels = chunk
    weights = operation.weights[:, rows, columns, channels]
    window = operation.window
    return dataclasses.replace(
        operation,
        window=dataclasses.replace(
            window,
            channels=weights.shape[3],
            kernel_rows=weights.shape[1],
            kernel_columns=weights.shape[2],
            pad_top=window.pad_top - rows.start * window.dilation_rows,
            pad_left=window.pad_left - columns.start * window.dilation_columns,
        ),
        weights=weights,
    )


def with_zero_points(first: Convolution, others: NDArray[np.int64]) -> Convolution:
    """Return the first chunk of packed products, given the sums of the other chunks' weights.

    Its bias stands for those of all chunks. What the zero point adds to their sums leaves with it,
    and of that its own weights' part is taken from it later.
    """
    bias = wrap_int32(first.parameters.bias - first.input_zero_point * others)
    parameters = dataclasses.replace(first.parameters, bias=bias.astype(np.int32))
    return dataclasses.replace(first, parameters=parameters)


def summed(operation: Convolution) -> NDArray[np.int64]:
    """Return the sum of the weights of each output."""
    total: NDArray[np.int64] = operation.weights.sum(axis=(1, 2, 3), dtype=np.int64)
    return total
