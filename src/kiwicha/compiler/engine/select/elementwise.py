"""Element-wise layers that are more than tables of single bytes: products, and operands by channel.

A tensor of one pixel, such as the scales of squeeze and excitation, meets every pixel of the other
operand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.layers import EngineLayer, Window, padded
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.optimize.byte_tables import SUMS, sum_terms
from kiwicha.compiler.optimize.ranges import NARROW_BITS
from kiwicha.compiler.tflite.shapes import row_major_strides
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise, is_plain
from kiwicha.program.weight_streams import Parameters

__all__ = ["LARGEST_ROW", "pair_layer", "pixel_rows"]

LARGEST_ROW = 2**15
"""Bytes of a single row of a flat job, at most: not every scratchpad holds more."""
_MAX_U16 = 2**16 - 1
_NO_WEIGHTS = np.zeros(0, np.int16)
_NO_TABLES = np.zeros((0, 2), np.int32)
_NAMES = ("input_1", "input_2")


def pixel_rows(shape: Sequence[int]) -> tuple[int, int, int]:
    """Return rows, columns and channels of a tensor, all dimensions but the last two as rows."""
    *_, rows, columns, channels = (1, 1, 1, *shape)
    return rows * math.prod(shape[:-3]), columns, channels


def pair_layer(network: Network, position: int) -> EngineLayer | None:
    """Return a layer in the engine's terms, None if it is not one of these.

    MUL of two tensors of one shape; ADD, SUB and MUL of a tensor and one of a single pixel; ADD and
    SUB of a tensor and a constant number for each channel.
    """
    layer = network.layers[position]
    p: Elementwise = layer.params
    if layer.kernel not in {*SUMS, Kernel.MUL}:
        return None
    inputs = [network.tensors[layer.tensors[name]] for name in _NAMES]
    output = layer.tensors["output"]
    rows, columns, channels = pixel_rows(network.tensors[output].shape)
    is_flat = is_plain(p)
    if is_flat and rows == 1 and columns * channels > LARGEST_ROW:
        rows, columns = columns, 1  # rows can be cut into stripes
    order = _order(p)
    if order is None or padded(channels) > _MAX_U16:
        return None
    full, other = (inputs[k] for k in order)
    is_constant = other.is_constant
    if full.is_constant or (is_constant and (is_flat or layer.kernel is Kernel.MUL)):
        return None
    scale = p.output_multiplier, p.output_shift
    if layer.kernel is Kernel.MUL:
        offsets = [(p.offset_1, p.offset_2)[k] for k in order]
        products = np.outer(*(np.array([-128, 127]) + offset for offset in offsets))
        terms = _Terms(JobKind.MUL, np.zeros(1, np.int64), _NO_TABLES, products, offsets)
    else:
        values = [ALL_BYTES, ALL_BYTES]
        if is_constant:
            values[order[1]] = other.int8s().reshape(-1).astype(np.int64)
        terms = _sums([sum_terms(layer.kernel, p, *values)[k] for k in order], is_constant)
    flags = JobFlag(0) if is_flat else JobFlag.CHANNELS
    bits = terms.sums.astype(np.int64) << max(scale[1], 0)
    if bits.min() < -1 << (NARROW_BITS - 1) or bits.max() >= 1 << (NARROW_BITS - 1):
        flags |= JobFlag.WIDE
    return EngineLayer(
        position,
        terms.kind,
        flags,
        (full.index,) if is_constant else (full.index, other.index),
        output,
        Window(rows, columns, channels, rows, columns),
        channels,
        Parameters(
            terms.bias.astype(np.int32),
            *(np.full(len(terms.bias), value, np.int32) for value in scale),
        ),
        -terms.offsets[0],
        p.output_offset,
        (p.activation_min, p.activation_max),
        _NO_WEIGHTS,
        terms.tables,
        weight_zero_point=-terms.offsets[1],
    )


@dataclass(frozen=True, eq=False)
class _Terms:
    """What the operands contribute: ``sums`` holds the least and the largest of all results."""

    kind: JobKind
    bias: NDArray[np.int64]
    tables: NDArray[np.int32]
    sums: NDArray[np.int64]
    offsets: Sequence[int] = (0, 0)


def _sums(terms: Sequence[NDArray[np.int64]], is_constant: bool) -> _Terms:
    """Return the terms of a sum; those of a constant operand, by channel, are a bias."""
    first, second = terms
    ends = np.array([first.min() + second.min(), first.max() + second.max()])
    if is_constant:
        tables = np.stack([first, np.zeros_like(first)], axis=1).astype(np.int32)
        return _Terms(JobKind.TABLE, second, tables, ends)
    tables = np.stack([first, second], axis=1).astype(np.int32)
    return _Terms(JobKind.ADD, np.zeros(1, np.int64), tables, ends)


def _order(p: Elementwise) -> tuple[int, int] | None:
    """Return which operand has the output's shape and which one has that or one pixel of it."""
    strides = (p.strides_1, p.strides_2)
    if is_plain(p):
        return 0, 1
    channel = (*(0 for _ in p.shape[:-1]), 1)
    wanted = row_major_strides(p.shape)
    for first, second in ((0, 1), (1, 0)):
        if _reads(strides[first], wanted, p.shape) and _reads(strides[second], channel, p.shape):
            return first, second
    return None


def _reads(strides: Sequence[int], wanted: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether strides are the wanted ones, where a dimension has more than one element."""
    pairs = zip(shape, strides, wanted, strict=True)
    return all(size == 1 or stride == expected for size, stride, expected in pairs)
