"""ConvTranspose: TFLite's transposed convolution, and a SLICE where its padding is another."""

from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.onnx.convolutions import bias_of, parts_of, pending
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.operands import weights
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import Activation, Codes, Constant, Refusal, Scale, Value
from kiwicha.compiler.onnx.writer import Writer
from kiwicha.compiler.tflite.graph import Padding

_ORDER = (0, 2, 3, 1)


@dataclass(frozen=True)
class _Axis:
    """One dimension: size of the input, step, padding before, and size of the result."""

    size: int
    extent: int
    stride: int
    before: int
    outputs: int

    @property
    def is_same(self) -> bool:
        """Whether the padding is that of a SAME convolution back to the input."""
        total = max((self.size - 1) * self.stride + self.extent - self.outputs, 0)
        return -(-self.outputs // self.stride) == self.size and total // 2 == self.before

    @property
    def whole(self) -> int:
        """Size of the result without padding, large enough to cut the result out."""
        least = (self.size - 1) * self.stride + self.extent
        return max(least, self.before + self.outputs)


@onnx_operator("ConvTranspose")
def conv_transpose(writer: Writer, node: Node, inputs: Operands) -> Value:
    """ConvTranspose works on images or signals; its weights are like those of Conv.

    Several groups are computed as one with zeros.
    """
    parts = parts_of(writer, node, inputs)
    kernel = _full(_stretched(parts.weights, _dilations(node)), parts.groups)
    if kernel.values.shape[0] != parts.source.shape[1]:
        raise Refusal(
            f"weights {list(kernel.values.shape)} must fit {parts.source.shape[1]} channels"
        )
    axes = _axes(node, parts.source.shape, kernel.values.shape)
    outputs = kernel.values.shape[1]
    tensor, codes = weights(writer, kernel, (1, 2, 3, 0), 1, node.inputs[1])
    bias = bias_of(writer, parts.bias, parts.source, codes, outputs)
    is_same = all(axis.is_same for axis in axes)
    sizes = (axes[0].outputs, axes[1].outputs)

    def emit(image: Activation, shape: tuple[int, ...], scale: Scale) -> Activation:
        whole = shape if is_same else (*shape[:2], axes[0].whole, axes[1].whole)
        stored = [whole[axis] for axis in _ORDER]
        output = writer.bytes(node.outputs[0], stored, scale)
        writer.operator(
            "TRANSPOSE_CONV",
            (image.tensor, tensor, bias, writer.integers(stored)),
            (output,),
            padding=Padding.SAME if is_same else Padding.VALID,
            stride_height=axes[0].stride,
            stride_width=axes[1].stride,
        )
        result = Activation(output, whole, _ORDER, scale.reals)
        if whole == shape:
            return result
        begins = writer.integers([0, axes[0].before, axes[1].before, 0])
        ends = writer.integers([shape[axis] for axis in _ORDER])
        return writer.moved("SLICE", result, shape, _ORDER, (begins, ends))

    return pending(writer, parts, sizes, outputs, emit)


def _dilations(node: Node) -> tuple[int, int]:
    values = [int(value) for value in node.get("dilations", [1])]
    return (1, values[0]) if len(values) == 1 else (values[0], values[1])


def _stretched(kernel: Constant, dilations: tuple[int, int]) -> Constant:
    """Return weights with what dilation leaves out as zeros."""
    if dilations == (1, 1):
        return kernel
    height, width = (
        (size - 1) * step + 1 for size, step in zip(kernel.values.shape[2:], dilations, strict=True)
    )
    codes = kernel.codes
    if codes is None:
        return kernel
    shape = (*kernel.values.shape[:2], height, width)
    full = _zeros(codes, shape)
    full[:, :, :: dilations[0], :: dilations[1]] = codes.values
    return _of_codes(codes, full)


def _full(kernel: Constant, groups: int) -> Constant:
    """Return weights from all channels to all, with zeros between the groups."""
    codes = kernel.codes
    if groups == 1 or codes is None:
        return kernel
    channels, outputs = kernel.values.shape[:2]
    full = _zeros(codes, (channels, outputs * groups, *kernel.values.shape[2:]))
    per_group = channels // groups
    for group in range(groups):
        rows = slice(group * per_group, (group + 1) * per_group)
        full[rows, group * outputs : (group + 1) * outputs] = codes.values[rows]
    scales, zeros = codes.scales, codes.zero_points
    if len(scales) == outputs and codes.axis == 1 and len(scales) > 1:
        scales, zeros = np.tile(scales, groups), np.tile(zeros, groups)
    return _of_codes(Codes(full, scales, zeros, codes.axis, codes.bits), full)


def _zeros(
    codes: Codes, shape: tuple[int, ...]
) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """Return the code of 0 for each of some weights."""
    sizes = [1] * len(shape)
    if len(set(codes.zero_points.tolist())) > 1:
        sizes[codes.axis] = shape[codes.axis]
        zeros = np.resize(codes.zero_points, shape[codes.axis])
        return np.broadcast_to(zeros.reshape(sizes), shape).copy()
    return np.full(shape, codes.zero_points[0], np.int64)


def _of_codes(codes: Codes, values: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> Constant:
    made = Codes(values, codes.scales, codes.zero_points, codes.axis, codes.bits)
    return Constant(values.astype(np.float32), made)


def _axes(node: Node, shape: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[_Axis, _Axis]:
    """Return the geometry of height and width."""
    count = len(shape) - 2
    sizes = shape[2:]
    extents = kernel[4 - count :]
    strides = [int(value) for value in node.get("strides", [1] * count)]
    more = [int(value) for value in node.get("output_padding", [0] * count)]
    pads = [int(value) for value in node.get("pads", [0] * (2 * count))]
    asked = node.get("output_shape", None)
    mode = node.get("auto_pad", "NOTSET")
    found = [_Axis(1, 1, 1, 0, 1)] * (2 - count)
    for axis in range(count):
        whole = (sizes[axis] - 1) * strides[axis] + extents[axis] + more[axis]
        before, outputs = pads[axis], whole - pads[axis] - pads[axis + count]
        if mode == "VALID":
            before, outputs = 0, whole
        elif asked is not None or mode != "NOTSET":
            outputs = sizes[axis] * strides[axis]
            if asked is not None:
                outputs = int(asked[-count + axis])
            total = max(whole - outputs, 0)
            before = total // 2 if mode == "SAME_UPPER" else total - total // 2
        if outputs < 1 or before < 0:
            raise Refusal(f"output must have positive sizes, not {outputs}")
        if before + outputs - (sizes[axis] - 1) * strides[axis] - extents[axis] >= strides[axis]:
            raise Refusal("output_padding must be less than the strides")
        found.append(_Axis(sizes[axis], extents[axis], strides[axis], before, outputs))
    return found[0], found[1]
