"""Order of weights: each element by its documented index, and back again."""

import math

import numpy as np
import pytest

from kiwicha.contract import cfu
from kiwicha.kernels import weight_order as packing

SHAPES = [(1, 1), (4, 4), (5, 7), (3, 2, 2, 3), (9, 1, 1, 8), (8, 3, 3, 1), (2, 1, 5, 2)]


def weights(*shape: int) -> np.ndarray:
    """Give bytes of which no two neighbours are equal, none of them 0."""
    return (np.arange(math.prod(shape)) % 127 + 1).astype(np.int8).reshape(shape)


@pytest.mark.parametrize("channels", range(10))
def test_padded_channels(channels: int) -> None:
    padded = packing.padded_channels(channels)
    assert padded % cfu.LANES == 0
    assert channels <= padded < channels + cfu.LANES


@pytest.mark.parametrize("shape", SHAPES)
def test_pack_conv(shape: tuple[int, ...]) -> None:
    w = weights(*shape)
    flat = w.reshape(shape[0], -1)
    outputs, window = flat.shape
    packed = packing.pack_conv(w)
    assert packed.shape == (-(-outputs // 4), -(-window // 4), 4, 4)
    assert packed.dtype == np.int8
    assert packed.flags.c_contiguous
    for group, k, lane, byte in np.ndindex(*packed.shape):
        output, element = 4 * group + lane, 4 * k + byte
        is_inside = output < outputs and element < window
        assert packed[group, k, lane, byte] == (flat[output, element] if is_inside else 0)


@pytest.mark.parametrize("shape", SHAPES)
def test_unpack_conv(shape: tuple[int, ...]) -> None:
    w = weights(*shape)
    stored = np.frombuffer(packing.pack_conv(w).tobytes(), np.int8)
    unpacked = packing.unpack_conv(stored, shape[0], math.prod(shape[1:]))
    np.testing.assert_array_equal(unpacked, w.reshape(shape[0], -1))


@pytest.mark.parametrize("size", [(1, 1, 4), (3, 3, 8), (2, 5, 12), (4, 1, 4)])
def test_depthwise(size: tuple[int, int, int]) -> None:
    height, width, channels = size
    w = weights(1, height, width, channels)
    packed = packing.pack_depthwise(w)
    assert packed.shape == (channels // 4, height * width, 4)
    assert packed.flags.c_contiguous
    for group, tap, lane in np.ndindex(*packed.shape):
        assert packed[group, tap, lane] == w[0, tap // width, tap % width, 4 * group + lane]
    stored = np.frombuffer(packed.tobytes(), np.int8)
    np.testing.assert_array_equal(packing.unpack_depthwise(stored, *size), w)
