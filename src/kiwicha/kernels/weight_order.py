"""Order of weights in memory for the instruction-tier kernels.

The compiler packs, the reference executor unpacks; firmware relies on the order.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.cfu import LANES

__all__ = ["pack_conv", "pack_depthwise", "padded_channels", "unpack_conv", "unpack_depthwise"]

Int8s = NDArray[np.int8]
WORD_BYTES = 4


def padded_channels(channels: int) -> int:
    """Return ``channels`` rounded up to a multiple of the lanes."""
    return -(-channels // LANES) * LANES


def pack_conv(weights: Int8s) -> Int8s:
    """Pack the weights of a convolution or fully connected layer.

    Parameters
    ----------
    weights : int8 [O, H, W, I] or [O, I]
        As in TFLite.

    Returns
    -------
    int8 [ceil(O / 4), ceil(K / 4), 4, 4] with K = H * W * I
        ``[group, k, lane, byte]`` is the weight of output ``4 group + lane`` for the flattened
        window element ``4 k + byte``; what lies outside O and K is 0.
    """
    outputs = weights.shape[0]
    flat = weights.reshape(outputs, -1)
    window = flat.shape[1]
    padded = np.zeros((padded_channels(outputs), -(-window // WORD_BYTES) * WORD_BYTES), np.int8)
    padded[:outputs, :window] = flat
    split = padded.reshape(-1, LANES, padded.shape[1] // WORD_BYTES, WORD_BYTES)
    return np.ascontiguousarray(split.transpose(0, 2, 1, 3))


def unpack_conv(packed: Int8s, outputs: int, window: int) -> Int8s:
    """Return int8 [outputs, window] from the bytes that `pack_conv` gave."""
    words = -(-window // WORD_BYTES)
    split = packed.reshape(-1, words, LANES, WORD_BYTES).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(split.reshape(-1, words * WORD_BYTES)[:outputs, :window])


def pack_depthwise(weights: Int8s) -> Int8s:
    """Pack the weights of a depthwise convolution.

    Parameters
    ----------
    weights : int8 [1, H, W, C]
        As in TFLite; C is a multiple of 4.

    Returns
    -------
    int8 [C / 4, H * W, 4]
        ``[group, tap, lane]`` is the weight of channel ``4 group + lane``.
    """
    channels = weights.shape[3]
    split = weights.reshape(-1, channels // LANES, LANES)
    return np.ascontiguousarray(split.transpose(1, 0, 2))


def unpack_depthwise(packed: Int8s, height: int, width: int, channels: int) -> Int8s:
    """Return int8 [1, height, width, channels] from the bytes that `pack_depthwise` gave."""
    split = packed.reshape(channels // LANES, height * width, LANES).transpose(1, 0, 2)
    return np.ascontiguousarray(split.reshape(1, height, width, channels))
