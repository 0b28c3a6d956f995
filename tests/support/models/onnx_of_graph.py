"""Writes a TFLite model as an ONNX model: images are NCHW, scales stay."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kiwicha.compiler import read
from kiwicha.compiler.tflite.graph import Activation, Graph, Operator, Padding
from kiwicha.compiler.tflite.tensor import Tensor, quantization
from kiwicha.compiler.tflite.windows import effective_size
from tests.support.requirements import module

__all__ = ["float_model", "qdq_model"]

_TO_ONNX = (0, 3, 1, 2)
_TO_TFLITE = (0, 2, 3, 1)


def qdq_model(content: bytes) -> bytes:
    """Return a TFLite model as an ONNX model in QDQ form, with bytes at its edges."""
    return _Translation(read(content), is_quantized=True).model()


def float_model(content: bytes) -> bytes:
    """Return the network of a TFLite model in float32, as ONNX."""
    return _Translation(read(content), is_quantized=False).model()


def _shape(tensor: Tensor) -> tuple[int, ...]:
    shape = tensor.shape
    return tuple(shape[axis] for axis in _TO_ONNX) if len(shape) == 4 else shape


class _Translation:
    """One model; values are named like the tensors."""

    def __init__(self, graph: Graph, *, is_quantized: bool) -> None:
        self._helper = module("onnx.helper", "onnx")
        self._onnx = module("onnx", "onnx")
        self._graph = graph
        self._is_quantized = is_quantized
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._real: dict[int, str] = {}

    def model(self) -> bytes:
        """Return the file."""
        kind = np.int8 if self._is_quantized else np.float32
        element = self._helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        edges = {"i": self._graph.inputs, "o": self._graph.outputs}
        infos = {
            letter: [
                self._helper.make_tensor_value_info(
                    f"{letter}{index}", element, _shape(self._graph.tensors[index])
                )
                for index in indices
            ]
            for letter, indices in edges.items()
        }
        for index in self._graph.inputs:
            self._real[index] = f"i{index}"
            if self._is_quantized:
                self._real[index] = self._linear("Dequantize", f"i{index}", index)
        for operator in self._graph.operators:
            self._translated(operator)
        for index in self._graph.outputs:
            if self._is_quantized:
                self._linear("Quantize", self._real[index], index, f"o{index}")
            else:
                self._node("Identity", [self._real[index]], name=f"o{index}")
        made = self._helper.make_graph(
            self._nodes, "network", infos["i"], infos["o"], self._constants
        )
        opsets = [self._helper.make_opsetid("", 17)]
        model = self._helper.make_model(made, opset_imports=opsets, ir_version=9)
        return bytes(model.SerializeToString())

    def _node(self, kind: str, inputs: Sequence[str], *, name: str = "", **attributes: Any) -> str:
        name = name or f"{kind}_{len(self._nodes)}"
        node = self._helper.make_node(kind, inputs, [name], name=f"node_{name}", **attributes)
        self._nodes.append(node)
        return name

    def _constant(self, values: Any, dtype: Any = np.float32) -> str:
        name = f"constant_{len(self._constants)}"
        array = np.asarray(values, dtype)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def _linear(self, kind: str, source: str, index: int, name: str = "") -> str:
        known = quantization(self._graph.tensors[index])
        inputs = [source, self._constant(known.scale), self._constant(known.zero_point, np.int8)]
        return self._node(f"{kind}Linear", inputs, name=name)

    def _define(self, index: int, value: str) -> None:
        """Let a tensor be a value, which is quantized."""
        if self._is_quantized:
            value = self._linear("Dequantize", self._linear("Quantize", value, index), index)
        self._real[index] = value

    def _translated(self, operator: Operator) -> None:
        value = _OPERATORS[operator.name](self, operator)
        values = [value] if isinstance(value, str) else value
        for index, name in zip(operator.outputs, values, strict=True):
            self._define(index, _activated(self, name, operator))

    # ------------------------------------------------------------------------- operators

    def source(self, operator: Operator, position: int = 0) -> str:
        """Return an input that is no constant."""
        return self._real[operator.inputs[position]]

    def weights(self, operator: Operator, permutation: Sequence[int], axis: int) -> list[str]:
        """Return weights and bias."""
        graph = self._graph
        kernel, bias = graph.input(operator, 1), graph.operand(operator, 2)
        values, known = kernel.int8s().transpose(permutation), quantization(kernel)
        scales = known.scales if len(known.scales) > 1 else known.scales[0]
        sums = np.float32(quantization(graph.input(operator)).scale) * scales
        sizes = [-1 if k == axis and np.ndim(scales) else 1 for k in range(values.ndim)]
        if not self._is_quantized:
            real = values.astype(np.float32) * np.reshape(scales, sizes)
            found = [self._constant(real)]
            if bias is not None:
                found.append(self._constant(bias.int32s().reshape(-1) * sums))
            return found
        zeros = np.zeros(np.shape(scales))
        inputs = [self._constant(values, np.int8), self._constant(scales)]
        inputs.append(self._constant(zeros, np.int8))
        found = [self._node("DequantizeLinear", inputs, axis=axis)]
        if bias is not None:
            inputs = [self._constant(bias.int32s().reshape(-1), np.int32), self._constant(sums)]
            inputs.append(self._constant(zeros, np.int32))
            found.append(self._node("DequantizeLinear", inputs, axis=0))
        return found

    def conv(self, operator: Operator) -> str:
        """Translate a CONV_2D or DEPTHWISE_CONV_2D."""
        is_depthwise = operator.name == "DEPTHWISE_CONV_2D"
        order = (3, 0, 1, 2) if is_depthwise else _TO_ONNX
        shape = self._graph.input(operator, 1).shape
        channels = self._graph.input(operator).shape[3]
        groups = channels if is_depthwise else channels // shape[3]
        return self._node(
            "Conv",
            [self.source(operator), *self.weights(operator, order, 0)],
            group=groups,
            kernel_shape=list(shape[1:3]),
            **self._window(operator, shape[1:3]),
        )

    def _window(self, operator: Operator, kernel: Sequence[int]) -> dict[str, Any]:
        options = operator.options
        strides = [options.stride_height, options.stride_width]
        dilations = [options.dilation_height, options.dilation_width]
        pads = [[0, 0], [0, 0]]
        if options.padding is Padding.SAME:
            for axis, size in enumerate(self._graph.input(operator).shape[1:3]):
                extent = effective_size(kernel[axis], dilations[axis])
                total = max((-(-size // strides[axis]) - 1) * strides[axis] + extent - size, 0)
                pads[axis] = [total // 2, total - total // 2]
        found: dict[str, Any] = {"strides": strides}
        found["pads"] = [pads[0][0], pads[1][0], pads[0][1], pads[1][1]]
        return found if dilations == [1, 1] else {**found, "dilations": dilations}

    def max_pool(self, operator: Operator) -> str:
        """Translate a MAX_POOL_2D."""
        kernel = [operator.options.kernel_height, operator.options.kernel_width]
        window = self._window(operator, kernel)
        return self._node("MaxPool", [self.source(operator)], kernel_shape=kernel, **window)

    def matrix(self, operator: Operator) -> str:
        """Translate a FULLY_CONNECTED."""
        inputs = [self.source(operator), *self.weights(operator, (0, 1), 0)]
        return self._node("Gemm", inputs, transB=1)

    def mean(self, operator: Operator) -> str:
        """Translate a MEAN over images."""
        value = self._node("GlobalAveragePool", [self.source(operator)])
        if len(self._graph.output(operator).shape) == 4:
            return value
        self._define(operator.outputs[0], value)
        return self._node("Flatten", [self._real[operator.outputs[0]]])

    def pair(self, operator: Operator) -> str:
        """Translate an ADD or MUL."""
        names = [self.source(operator), self.source(operator, 1)]
        return self._node({"ADD": "Add", "MUL": "Mul"}[operator.name], names)

    def unary(self, operator: Operator) -> str:
        """Translate a function."""
        return self._node({"LOGISTIC": "Sigmoid"}[operator.name], [self.source(operator)])

    def softmax(self, operator: Operator) -> str:
        """Translate a SOFTMAX."""
        rank = len(self._graph.output(operator).shape)
        axis = 1 if rank == 4 else rank - 1
        return self._node("Softmax", [self.source(operator)], axis=axis)

    def concat(self, operator: Operator) -> str:
        """Translate a CONCATENATION."""
        names = [self.source(operator, k) for k in range(len(operator.inputs))]
        return self._node("Concat", names, axis=self._axis(operator, operator.options.axis))

    def _axis(self, operator: Operator, axis: int) -> int:
        rank = len(self._graph.output(operator).shape)
        return _TO_ONNX.index(axis % rank) if rank == 4 else axis % rank

    def split(self, operator: Operator) -> list[str]:
        """Translate a SPLIT or SPLIT_V."""
        at = 0 if operator.name == "SPLIT" else 2
        (axis,) = self._graph.input(operator, at).integers()
        source = self._real[operator.inputs[1 - at if at == 0 else 0]]
        place = self._axis(operator, axis)
        sizes = [_shape(self._graph.tensors[index])[place] for index in operator.outputs]
        names = [f"part_{index}" for index in operator.outputs]
        inputs = [source, self._constant(sizes, np.int64)]
        node = self._helper.make_node("Split", inputs, names, name=names[0], axis=place)
        self._nodes.append(node)
        return names

    def turned(self, operator: Operator) -> str:
        """Translate a RESHAPE or TRANSPOSE: what images are in TFLite, and back."""
        value, output = self.source(operator), self._graph.output(operator)
        if len(self._graph.input(operator).shape) == 4:
            value = self._node("Transpose", [value], perm=_TO_TFLITE)
        if operator.name == "TRANSPOSE":
            permutation = self._graph.input(operator, 1).integers()
            value = self._node("Transpose", [value], perm=permutation)
        else:
            value = self._node("Reshape", [value, self._constant(output.shape, np.int64)])
        if len(output.shape) == 4:
            value = self._node("Transpose", [value], perm=_TO_ONNX)
        return value

    def resize(self, operator: Operator) -> str:
        """Translate a RESIZE_NEAREST_NEIGHBOR."""
        sizes = self._constant(_shape(self._graph.output(operator)), np.int64)
        return self._node(
            "Resize",
            [self.source(operator), "", "", sizes],
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )

    def clipped(self, value: str, low: float, high: float | None) -> str:
        """Return a value in a range."""
        if high is None:
            return self._node("Relu", [value])
        return self._node("Clip", [value, self._constant(low), self._constant(high)])


def _activated(translation: _Translation, value: str, operator: Operator) -> str:
    bounds = {Activation.RELU: (0.0, None), Activation.RELU6: (0.0, 6.0)}
    known = bounds.get(operator.options.activation)
    return value if known is None else translation.clipped(value, *known)


_OPERATORS: Mapping[str, Callable[[_Translation, Operator], str | list[str]]] = {
    "ADD": _Translation.pair,
    "CONCATENATION": _Translation.concat,
    "CONV_2D": _Translation.conv,
    "DEPTHWISE_CONV_2D": _Translation.conv,
    "FULLY_CONNECTED": _Translation.matrix,
    "LOGISTIC": _Translation.unary,
    "MAX_POOL_2D": _Translation.max_pool,
    "MEAN": _Translation.mean,
    "MUL": _Translation.pair,
    "RESHAPE": _Translation.turned,
    "RESIZE_NEAREST_NEIGHBOR": _Translation.resize,
    "SOFTMAX": _Translation.softmax,
    "SPLIT": _Translation.split,
    "SPLIT_V": _Translation.split,
    "TRANSPOSE": _Translation.turned,
}
