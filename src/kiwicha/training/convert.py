"""From a trained network to the bytes of a .tflite file."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from kiwicha.training.network import NORM_EPSILON, to_input
from kiwicha.training.quantize import (
    INPUT,
    Quantization,
    QuantizedWeights,
    fold_batch_norm,
    quantize_range,
    quantize_weights,
)
from kiwicha.training.topology import LAYERS
from kiwicha.training.write import write_classifier

__all__ = ["convert"]


def convert(network: nn.Sequential, pictures: NDArray[np.uint8]) -> bytes:
    """Quantize a trained network and write it as a TFLite model.

    Parameters
    ----------
    network : torch.nn.Sequential
        As ``network.train`` returns it.
    pictures : numpy.ndarray
        uint8 ``[N, 96, 96]``: the pictures that the activations' ranges are measured on.

    Returns
    -------
    bytes
        The file's content.
    """
    outputs = _measure(network, pictures)
    # Average pooling keeps the quantization of its input.
    inputs = [INPUT, *outputs[:-1]]
    blocks = [module for module in network if isinstance(module, nn.Sequential)]
    weights = [
        _quantize_block(block, source.scale) for block, source in zip(blocks, inputs, strict=True)
    ]
    return write_classifier(LAYERS, weights, outputs)


def _measure(network: nn.Sequential, pictures: NDArray[np.uint8]) -> list[Quantization]:
    """Choose the quantization of each block's output from the values it takes."""
    values = to_input(torch.from_numpy(pictures[:, None].astype(np.float32)))
    ranges = []
    with torch.no_grad():
        for module in network:
            values = module(values)
            if isinstance(module, nn.Sequential):
                ranges.append(quantize_range(float(values.min()), float(values.max())))
    return ranges


def _quantize_block(block: nn.Sequential, input_scale: float) -> QuantizedWeights:
    """Fold a block's batch normalisation, if it has one, and quantize its convolution."""
    parameters = {
        name: tensor.detach().contiguous().numpy().astype(np.float64)
        for name, tensor in block.state_dict().items()
    }
    weights = parameters["convolution.weight"]
    if "norm.weight" in parameters:
        weights, bias = fold_batch_norm(
            weights,
            gamma=parameters["norm.weight"],
            beta=parameters["norm.bias"],
            mean=parameters["norm.running_mean"],
            variance=parameters["norm.running_var"],
            epsilon=NORM_EPSILON,
        )
    else:
        bias = parameters["convolution.bias"]
    return quantize_weights(weights, bias, input_scale)
