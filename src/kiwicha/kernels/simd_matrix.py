"""What convolutions and fully connected layers with custom instructions have in common."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.cfu import LANES, PIXELS
from kiwicha.kernels.conv import Conv, output_count, window_size, with_offset
from kiwicha.kernels.kernel import Call, Memory, Work
from kiwicha.kernels.weight_order import (
    WORD_BYTES,
    pack_conv,
    padded_channels,
    unpack_conv,
)

__all__ = [
    "CACHED_BYTES",
    "MAX_WINDOW_PIXELS",
    "cached_pixels",
    "is_aligned",
    "is_pointwise",
    "matrix_pixels",
    "matrix_work",
    "packed",
    "packed_weights",
    "padded_macs",
    "padded_tables",
    "padded_window",
    "whole_pixels",
]

CACHED_BYTES = 3584
"""Activations and weights of one pass: what stays in a data cache of 4 KiB."""
MAX_WINDOW_PIXELS = 64
_MAX_MATRIX_PIXELS = 256


def is_aligned(p: Conv) -> bool:
    """Whether every pixel of the input is whole words."""
    return p.input_channels % WORD_BYTES == 0


def is_pointwise(p: Conv) -> bool:
    """Whether a convolution is a matrix product: output pixel n reads input pixel n alone."""
    return (
        p.kernel_height == p.kernel_width == 1
        and p.stride_height == p.stride_width == 1
        and p.pad_top == p.pad_left == 0
        and p.output_height == p.input_height
        and p.output_width == p.input_width
    )


def padded_window(p: Conv) -> int:
    """Return the bytes of a window, rounded up to words."""
    return WORD_BYTES * -(-window_size(p) // WORD_BYTES)


def whole_pixels(pixels: int) -> int:
    """Return a number of pixels rounded down to what is computed at a time."""
    return pixels // PIXELS * PIXELS


def matrix_pixels(p: Conv) -> int:
    """Return the pixels of which a pass over all weights keeps the activations in the cache."""
    total = p.batches * p.output_height * p.output_width
    return cached_pixels(total, window_size(p), has_offset=p.weight_offset != 0)


def cached_pixels(total: int, window: int, *, has_offset: bool) -> int:
    """Return the same of so many pixels, of ``window`` bytes, whose weights may have an offset."""
    fitting = (CACHED_BYTES - PIXELS * window) // window
    most = MAX_WINDOW_PIXELS if has_offset else _MAX_MATRIX_PIXELS
    return max(PIXELS, min(whole_pixels(fitting), most, -(-total // PIXELS) * PIXELS))


def packed(call: Call, pixels: int) -> Call:
    """Return a call in passes of ``pixels``, its weights in the order of the instructions."""
    weights = pack_conv(call.constants["weights"].astype(np.int8, copy=False))
    return dataclasses.replace(
        call,
        params=dataclasses.replace(call.params, tile_pixels=pixels),
        constants={"weights": weights, **padded_tables(call)},
    )


def padded_tables(call: Call) -> dict[str, NDArray[np.generic]]:
    """Return bias, multiplier and shift with whole groups of channels."""
    tables = {}
    for name in ("bias", "multiplier", "shift"):
        values = call.constants[name]
        missing = padded_channels(len(values)) - len(values)
        tables[name] = np.concatenate([values, np.zeros(missing, values.dtype)])
    return tables


def packed_weights(memory: Memory, p: Conv) -> NDArray[np.int16]:
    """Return [output_channels, window] from the order of the instructions."""
    size = padded_channels(p.output_channels) * padded_window(p)
    raw = memory.load(p.weights, np.int8, (size,))
    return with_offset(p, unpack_conv(raw, p.output_channels, window_size(p)))


def padded_macs(p: Conv) -> tuple[int, int, int]:
    """Return outputs, pixels, and multiply-accumulates of a pixel, padding included."""
    outputs = output_count(p)
    macs = padded_window(p) * padded_channels(p.output_channels)
    return outputs, outputs // p.output_channels, macs


def matrix_work(p: Conv) -> Work:
    """Return what a matrix product does, pixels beyond the last whole group apart."""
    outputs, pixels, macs = padded_macs(p)
    return Work(outputs, pixels // LANES * LANES * macs, pixels % LANES * macs)
