"""Writes the quantized classifier as a TFLite file."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS, ModelBuilder
from kiwicha.training.quantize import INPUT, PROBABILITY, Quantization, QuantizedWeights
from kiwicha.training.topology import POOL_SIZE, Convolution

__all__ = ["write_classifier"]

DESCRIPTION = "Kiwicha face detector"

# Versions from which on the operators know int8, and per-channel weights for the convolutions.
VERSIONS = {
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "AVERAGE_POOL_2D": 2,
    "RESHAPE": 1,
    "SOFTMAX": 2,
}


def write_classifier(
    layers: Sequence[Convolution],
    weights: Sequence[QuantizedWeights],
    outputs: Sequence[Quantization],
) -> bytes:
    """Write convolutions, average pooling before the last, and a softmax after it.

    Parameters
    ----------
    layers : sequence of Convolution
        In order of execution; the last gives the logits.
    weights : sequence of QuantizedWeights
        The constants of each layer.
    outputs : sequence of Quantization
        How each layer's output is stored.

    Returns
    -------
    bytes
        The file's content.
    """
    writer = _Writer()
    size, channels = layers[0].in_size, layers[0].in_channels
    first = writer.add_activation("input", (1, size, size, channels), INPUT)
    current, stored_as = first, INPUT
    *features, logits = zip(layers, weights, outputs, strict=True)
    for layer, constants, output in features:
        current = writer.add_convolution(layer, constants, current, stored_as, output)
        stored_as = output
    current = writer.add_pool(current, layers[-2], stored_as)
    layer, constants, output = logits
    current = writer.add_convolution(layer, constants, current, stored_as, output)
    last = writer.add_softmax(writer.add_reshape(current, layer.out_channels, output), layer)
    return writer.file.build([first], [last])


class _Writer:
    """Adds one operator at a time; every method returns the index of the operator's output."""

    def __init__(self) -> None:
        self.file = ModelBuilder(DESCRIPTION)

    def add_activation(self, name: str, shape: Sequence[int], stored_as: Quantization) -> int:
        """Add an int8 tensor that is no constant."""
        return self.file.tensor(
            shape, name=name, scale=stored_as.scale, zero_point=stored_as.zero_point
        )

    def add_convolution(
        self,
        layer: Convolution,
        constants: QuantizedWeights,
        source: int,
        source_stored_as: Quantization,
        stored_as: Quantization,
    ) -> int:
        """Add CONV_2D or DEPTHWISE_CONV_2D with its weights and bias."""
        scales = [float(scale) for scale in constants.scales]
        # From [output channel, input channel, row, column]: OHWI, or 1HWO when depthwise.
        weights = constants.weights.transpose((1, 2, 3, 0) if layer.is_depthwise else (0, 2, 3, 1))
        kernel = self.file.tensor(
            weights.shape, name=f"{layer.name}/weights", data=weights, scale=scales,
            axis=3 if layer.is_depthwise else 0,
        )  # fmt: skip
        bias = self.file.tensor(
            constants.bias.shape, np.int32, name=f"{layer.name}/bias", data=constants.bias,
            scale=[scale * source_stored_as.scale for scale in scales],
        )  # fmt: skip
        shape = (1, layer.out_size, layer.out_size, layer.out_channels)
        output = self.add_activation(f"{layer.name}/output", shape, stored_as)
        options = {
            "padding": PADDINGS["SAME"], "strideH": layer.stride, "strideW": layer.stride,
            "dilationHFactor": 1, "dilationWFactor": 1,
            "fusedActivationFunction": ACTIVATIONS["RELU6" if layer.has_activation else "NONE"],
        }  # fmt: skip
        if layer.is_depthwise:
            options["depthMultiplier"] = layer.depth_multiplier
        code = "DEPTHWISE_CONV_2D" if layer.is_depthwise else "CONV_2D"
        self._add(code, [source, kernel, bias], output, **options)
        return output

    def add_pool(self, source: int, layer: Convolution, stored_as: Quantization) -> int:
        """Add the AVERAGE_POOL_2D that reduces the output of a layer to one pixel."""
        output = self.add_activation("pool/output", (1, 1, 1, layer.out_channels), stored_as)
        # The window covers its whole input: the stride has no effect.
        self._add(
            "AVERAGE_POOL_2D", [source], output, padding=PADDINGS["VALID"],
            filterHeight=POOL_SIZE, filterWidth=POOL_SIZE, strideH=2, strideW=2,
        )  # fmt: skip
        return output

    def add_reshape(self, source: int, channels: int, stored_as: Quantization) -> int:
        """Add the RESHAPE of one pixel to a row."""
        values = np.array([-1, channels], np.int32)
        shape = self.file.tensor((2,), np.int32, name="logits/shape", data=values)
        output = self.add_activation("logits/row", (1, channels), stored_as)
        self._add("RESHAPE", [source, shape], output, newShape=values)
        return output

    def add_softmax(self, source: int, layer: Convolution) -> int:
        """Add the SOFTMAX that ends the model."""
        output = self.add_activation("probabilities", (1, layer.out_channels), PROBABILITY)
        self._add("SOFTMAX", [source], output, beta=1.0)
        return output

    def _add(self, code: str, inputs: Sequence[int], output: int, **options: Any) -> None:
        """Add an operator with one output."""
        self.file.operator(code, inputs, [output], version=VERSIONS[code], **options)
