"""The writer of .tflite files, read back with the schema's readers and run."""

from typing import Any

import numpy as np
import pytest
import tflite
from numpy.typing import NDArray
from tflite_micro import runtime

from kiwicha.training.quantize import Quantization, QuantizedWeights, quantize_weights
from kiwicha.training.topology import LAYERS
from kiwicha.training.write import write_classifier


@pytest.fixture(scope="module")
def weights() -> list[QuantizedWeights]:
    rng = np.random.default_rng(7)
    constants = []
    for layer in LAYERS:
        fan_in = 1 if layer.is_depthwise else layer.in_channels
        shape = (layer.out_channels, fan_in, layer.kernel, layer.kernel)
        spread = 1.5 / np.sqrt(fan_in * layer.kernel**2)
        kernel, bias = rng.normal(scale=spread, size=shape), rng.normal(size=layer.out_channels)
        constants.append(quantize_weights(kernel, bias, 6 / 255))
    return constants


@pytest.fixture(scope="module")
def content(weights: list[QuantizedWeights]) -> bytes:
    outputs = [Quantization(6 / 255, -128)] * (len(LAYERS) - 1) + [Quantization(0.05, 3)]
    return write_classifier(LAYERS, weights, outputs)


def read_constant(content: bytes, name: str, dtype: Any) -> NDArray[Any]:
    model = tflite.Model.GetRootAsModel(content, 0)
    graph = model.Subgraphs(0)
    tensors = [graph.Tensors(i) for i in range(graph.TensorsLength())]
    (tensor,) = [tensor for tensor in tensors if tensor.Name() == name.encode()]
    stored = model.Buffers(tensor.Buffer()).DataAsNumpy()
    values: NDArray[Any] = stored.view(dtype).reshape(tensor.ShapeAsNumpy())
    return values


@pytest.mark.parametrize("number", [0, 1, 2, 26, 27])
def test_constants_lie_as_the_format_says(
    content: bytes, weights: list[QuantizedWeights], number: int
) -> None:
    layer, constants = LAYERS[number], weights[number]
    stored = read_constant(content, f"{layer.name}/weights", np.int8)
    for out_channel in range(layer.out_channels):
        kernel = stored[0, :, :, out_channel] if layer.is_depthwise else stored[out_channel]
        expected = constants.weights[out_channel]
        ours = expected[0] if layer.is_depthwise else np.moveaxis(expected, 0, 2)
        np.testing.assert_array_equal(kernel, ours)
    bias = read_constant(content, f"{layer.name}/bias", np.dtype("<i4"))
    np.testing.assert_array_equal(bias, constants.bias)


def test_every_constant_is_aligned(content: bytes) -> None:
    model = tflite.Model.GetRootAsModel(content, 0)
    start = np.frombuffer(content, np.uint8).ctypes.data
    filled = 0
    for index in range(model.BuffersLength()):
        buffer = model.Buffers(index)
        if buffer.DataLength():
            filled += 1
            assert (buffer.DataAsNumpy().ctypes.data - start) % 16 == 0
    # Weights and bias of each convolution, and the shape of the reshape.
    assert filled == 2 * len(LAYERS) + 1


def test_file_runs_and_answers_with_probabilities(content: bytes) -> None:
    interpreter = runtime.Interpreter.from_bytes(content)
    rng = np.random.default_rng(1)
    interpreter.set_input(rng.integers(-128, 128, (1, 96, 96, 1), np.int8), 0)
    interpreter.invoke()
    stored = interpreter.get_output(0)
    # The two probabilities are counts of 1/256 from -128 up; their sum is 1 up to rounding.
    assert abs(int((stored.astype(int) + 128).sum()) - 256) <= 1


def test_equal_operator_codes_are_listed_once(content: bytes) -> None:
    model = tflite.Model.GetRootAsModel(content, 0)
    codes = [model.OperatorCodes(i).BuiltinCode() for i in range(model.OperatorCodesLength())]
    assert sorted(codes) == sorted(set(codes))
    assert len(codes) == 5
