"""Convolutions with two products per multiplier: which ones, and what their streams need."""

import dataclasses

import numpy as np

from kiwicha.compiler.engine.ir.layers import EngineLayer, padded, segment_shape
from kiwicha.contract.engine import (
    GROUP_PARAMETER_BYTES,
    PACKED_MACS,
    PACKED_WEIGHT_LIMIT,
    JobFlag,
    JobKind,
    outputs_of,
)
from kiwicha.numerics.requantization import wrap_int32
from kiwicha.program.weight_streams import Parameters, bytes_of_word, channels_per_group

__all__ = ["packed_if_faster", "stream_parameters"]

_BEAT_BYTES = 16
"""Of a weight stream in a cycle, at best."""


def packed_if_faster(layer: EngineLayer, macs: int, requantizer_cycles: int = 1) -> EngineLayer:
    """Return a layer with `JobFlag.PACKED` if it can have it and takes fewer cycles with it.

    Parameters
    ----------
    layer : EngineLayer
        The layer.
    macs : int
        Products per cycle.
    requantizer_cycles : int
        As `kiwicha.contract.cfu.Config.requantizer_cycles`.
    """
    fits = macs == PACKED_MACS and layer.kind is JobKind.CONV
    if not fits or (np.abs(layer.weights) > PACKED_WEIGHT_LIMIT).any():
        return layer
    packed = dataclasses.replace(layer, flags=layer.flags | JobFlag.PACKED)
    cycles, single_cycles = (_cycles(form, macs, requantizer_cycles) for form in (packed, layer))
    return packed if cycles < single_cycles else layer


def _cycles(layer: EngineLayer, macs: int, requantizer_cycles: int) -> int:
    """Return the cycles of a CONV without the gaps between groups."""
    window = layer.window
    channels = channels_per_group(macs, layer.kind, layer.flags)
    segments, segment_words = segment_shape(window, padded(window.channels))
    words = window.kernel_rows * segments * segment_words
    interval = channels // outputs_of(macs) * (2 if layer.flags & JobFlag.WIDE else 1)
    interval *= requantizer_cycles
    size = channels * GROUP_PARAMETER_BYTES + words * bytes_of_word(macs, layer.flags)
    group = max(window.output_pixels * max(words, interval), size // _BEAT_BYTES)
    return -(-layer.output_channels // channels) * group


def stream_parameters(layer: EngineLayer) -> Parameters:
    """Return the parameters in the weight stream of a CONV or DEPTHWISE.

    Packed products are those of whole inputs, and the zero point outside the image is an input
    too: what the zero point adds to each sum is the same everywhere, and leaves with the bias.
    """
    parameters = layer.parameters
    if not layer.flags & JobFlag.PACKED:
        return parameters
    sums = layer.weights.astype(np.int64).sum(axis=(1, 2, 3))
    bias = wrap_int32(parameters.bias - layer.input_zero_point * sums).astype(np.int32)
    return dataclasses.replace(parameters, bias=bias)
