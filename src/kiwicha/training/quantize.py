"""Post-training quantization: from a trained float network to int8 layers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "INPUT", "PROBABILITY", "Quantization", "QuantizedWeights", "fold_batch_norm",
    "quantize_range", "quantize_weights",
]  # fmt: skip

WEIGHT_LIMIT = 127
"""Weights are symmetric: -127 to 127."""

# A bias keeps one bit of headroom in the int32 accumulator.
BIAS_LIMIT = 2**30


@dataclass(frozen=True)
class Quantization:
    """``real = (stored - zero_point) * scale``."""

    scale: float
    zero_point: int


# The input tensor is "grey pixel minus 128"; it stands for -254/255 to 256/255.
INPUT = Quantization(float(np.float32(2 / 255)), -1)

# What TFLite's SOFTMAX demands of its int8 output.
PROBABILITY = Quantization(1 / 256, -128)


@dataclass(frozen=True)
class QuantizedWeights:
    """A convolution's constants.

    Parameters
    ----------
    weights : numpy.ndarray
        int8, output channel first, -127 to 127.
    bias : numpy.ndarray
        int32 ``[channels]``; its scale is the input's scale times the weights' scale.
    scales : numpy.ndarray
        float32 ``[channels]``: the weights' scales; their zero points are 0.
    """

    weights: NDArray[np.int8]
    bias: NDArray[np.int32]
    scales: NDArray[np.float32]


def fold_batch_norm(
    weights: NDArray[np.float64],
    gamma: NDArray[np.float64],
    beta: NDArray[np.float64],
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
    epsilon: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Merge a batch normalisation into the convolution before it.

    Parameters
    ----------
    weights : numpy.ndarray
        float64, output channel first.
    gamma, beta, mean, variance : numpy.ndarray
        float64 ``[channels]``: the normalisation's factors, offsets and running statistics.
    epsilon : float
        Added to the variance.

    Returns
    -------
    weights, bias : numpy.ndarray
        float64: the convolution that does both.
    """
    factor = gamma / np.sqrt(variance + epsilon)
    per_channel = factor.reshape(-1, *[1] * (weights.ndim - 1))
    return weights * per_channel, beta - mean * factor


def quantize_weights(
    weights: NDArray[np.float64], bias: NDArray[np.float64], input_scale: float
) -> QuantizedWeights:
    """Quantize a convolution per output channel.

    Parameters
    ----------
    weights : numpy.ndarray
        float64, output channel first.
    bias : numpy.ndarray
        float64 ``[channels]``.
    input_scale : float
        Scale of the input tensor, which the bias' scale is made of.

    Returns
    -------
    QuantizedWeights
        Each scale is the least that keeps weights and bias in range; half rounds to even.
    """
    largest = np.abs(weights).reshape(len(weights), -1).max(1)
    scales = np.maximum(largest / WEIGHT_LIMIT, np.abs(bias) / (input_scale * BIAS_LIMIT))
    scales = np.where(scales > 0, scales, 1.0).astype(np.float32)
    per_channel = scales.astype(np.float64).reshape(-1, *[1] * (weights.ndim - 1))
    stored = np.clip(np.rint(weights / per_channel), -WEIGHT_LIMIT, WEIGHT_LIMIT)
    bias_scales = scales.astype(np.float64) * input_scale
    return QuantizedWeights(
        stored.astype(np.int8), np.rint(bias / bias_scales).astype(np.int32), scales
    )


def quantize_range(low: float, high: float) -> Quantization:
    """Choose scale and zero point for an int8 tensor.

    Parameters
    ----------
    low, high : float
        The least and the greatest value to represent; the range is widened to hold 0.

    Returns
    -------
    Quantization
        0 is represented exactly; a tensor that is never negative gets the zero point -128.
    """
    low, high = min(low, 0.0), max(high, 0.0)
    scale = float(np.float32((high - low) / 255)) or 1.0
    return Quantization(scale, int(np.clip(np.rint(-128 - low / scale), -128, 127)))
