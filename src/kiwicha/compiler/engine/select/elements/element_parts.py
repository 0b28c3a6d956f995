"""What element-wise operations have in common: geometry, parameters and tables."""

import math

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.contract.engine import SUM_BITS
from kiwicha.program.weight_streams import Parameters

__all__ = ["LARGEST_ROW", "element_window", "is_wide", "one_scale", "table_pairs"]

LARGEST_ROW = 2**15
"""Bytes of a single row, at most: not every scratchpad holds more."""


def element_window(network: Network, layer: Layer) -> Window:
    """Return the geometry, all dimensions but the last two as rows."""
    shape = network.tensors[layer.tensors["output"]].shape
    *_, rows, columns, channels = (1, 1, 1, *shape)
    rows *= math.prod(shape[:-3])
    if rows == 1 and columns * channels > LARGEST_ROW:
        rows, columns = columns, 1  # rows can be cut into stripes
    return Window.of_pixels(rows, columns, channels)


def one_scale(count: int, multiplier: int, shift: int) -> Parameters:
    """Return parameters without a bias, all alike."""
    return Parameters(*(np.full(count, value, np.int32) for value in (0, multiplier, shift)))


def is_wide(sums: NDArray[np.int64], shift: int) -> bool:
    """Whether some of the sums, shifted left, need more than one pass of the requantizer."""
    shifted = sums.astype(np.int64) << max(shift, 0)
    bound = 1 << (SUM_BITS - 1)
    return bool(shifted.min() < -bound or shifted.max() >= bound)


def table_pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return tables of two operands side by side, as operations have them."""
    return np.stack([first, second], axis=1).astype(np.int32)
